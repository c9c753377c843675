// Is everything in order around the swarm? Looking changes nothing; repairs are begun in a terminal, where their questions can be answered.
import { useState } from "react";
import { useDoctor } from "../api/queries";
import type { DoctorView } from "../api/types";
import { useAddress } from "../lib/address";
import { count } from "../lib/said";
import { Commands } from "../ui/commands";
import { Awaited, Empty, Page } from "../ui/parts";

type Finding = DoctorView["findings"][number];

const SIGNS = { problem: "✗", note: "!", ok: "✓" } as const;

function Line({ finding }: { finding: Finding }) {
  return (
    <li className={`finding f-${finding.state}`}>
      <span className="state">
        <span aria-hidden="true">{SIGNS[finding.state]} </span>
        {finding.state}
      </span>
      <div>
        <strong>{finding.title}</strong>
        {finding.subject ? ` ${finding.subject}` : ""}: {finding.what}
        {finding.fix ? <Commands lines={[finding.fix]} /> : null}
      </div>
    </li>
  );
}

function Findings({ view }: { view: DoctorView }) {
  const [all, show] = useState(false);
  const told = view.findings.filter(({ state }) => all || state !== "ok");
  const fine = view.findings.filter(({ state }) => state === "ok").length;
  return (
    <section className="card" aria-label="Findings">
      <h2>{view.problems ? count(view.problems, "problem") : "No problem"}</h2>
      <ul className="findings">
        {told.map((finding, n) => (
          <Line key={n} finding={finding} />
        ))}
      </ul>
      <label className="check">
        <input type="checkbox" checked={all} onChange={(event) => show(event.target.checked)} />
        show also the {count(fine, "check")} that passed
      </label>
    </section>
  );
}

export default function DoctorPage() {
  const { at } = useAddress();
  const { data, error, refetch, isFetching } = useDoctor(at === null);
  return (
    <Page
      title="Doctor"
      side={
        <button type="button" className="button small" disabled={at !== null || isFetching} onClick={() => void refetch()}>
          {isFetching && data ? "Looking …" : "Look again"}
        </button>
      }
    >
      {at !== null ? (
        <Empty>The machine and the repository are looked at as they are now: t returns to the present.</Empty>
      ) : data ? (
        <Findings view={data} />
      ) : (
        <Awaited error={error} what="machine, repository and swarm" />
      )}
      {at === null ? <p className="dim">Looking changes nothing. What can be put right without losing anything is put right by:</p> : null}
      <Commands lines={["swarm doctor --fix"]} />
    </Page>
  );
}
