// What stands on trunk, and why: a line leads to its commit, task, attempt, iteration, review and records.
import { useMemo } from "react";
import { useTrunk } from "../api/queries";
import type { CauseView, TrunkEntry, TrunkFile, TrunkView } from "../api/types";
import { useLive } from "../live/live";
import { useAddress } from "../lib/address";
import { blocks, causeOf } from "../lib/cause";
import { kindWords, said, who, type LedgerRecord } from "../lib/events";
import { useTaskRecords } from "../lib/records";
import { age, count, day, short } from "../lib/said";
import { Awaited, Empty, Page, TaskLink, To, useNow } from "../ui/parts";
import { Rows } from "../ui/rows";

const LINES = 500;
const SIGNS = { folder: "▸", file: "", link: "→", submodule: "◆" } as const;

function Crumbs({ view, path }: { view: TrunkView | undefined; path: string }) {
  const names = path.split("/").filter(Boolean);
  return (
    <nav className="crumbs" aria-label="Where on trunk">
      <To path="/trunk">{view?.trunk ?? "trunk"}</To>
      {names.map((name, n) => {
        const to = names.slice(0, n + 1).join("/");
        return (
          <span key={to}>
            {" / "}
            {n === names.length - 1 ? (
              <span aria-current="page">{name}</span>
            ) : (
              <To path="/trunk" params={{ path: to }}>
                {name}
              </To>
            )}
          </span>
        );
      })}
      {view ? <span className="dim"> at {short(view.commit)}</span> : null}
    </nav>
  );
}

function Folder({ entries, path, cut }: { entries: TrunkEntry[]; path: string; cut: boolean }) {
  return (
    <>
      <Rows
        items={entries}
        id={(entry) => entry.name}
        label="What the folder holds"
        height={36}
        className="lines"
        row={(entry) => (
          <div className="line">
            <To path="/trunk" params={{ path: path ? `${path}/${entry.name}` : entry.name }} className="name grow">
              <span aria-hidden="true">{SIGNS[entry.kind]} </span>
              {entry.name}
            </To>
            <span className="dim">{entry.kind === "file" ? "" : entry.kind}</span>
          </div>
        )}
      />
      {entries.length === 0 ? <Empty>Nothing is in it.</Empty> : null}
      {cut ? <p className="warn">It holds more than is listed here.</p> : null}
    </>
  );
}

function RecordLine({ record, name }: { record: LedgerRecord; name: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {said(record) ?? kindWords(record)} <span className="dim">{who(record.by)},</span>{" "}
        <To path="/history" params={{ record: record.seq }}>
          record {record.seq}
        </To>
      </dd>
    </div>
  );
}

/** What the ledger has about the commit of a task. */
function Story({ cause, task }: { cause: CauseView; task: string }) {
  const records = useTaskRecords(task, useLive().seq, 500);
  const story = useMemo(() => causeOf(records.records, cause.commit, cause.at), [records.records, cause]);
  const run = String(story.iteration?.data?.["run"] ?? story.claimed?.data?.["run"] ?? "");
  const iteration = Number(story.iteration?.data?.["iteration"] ?? 0) || null;
  if (records.records.length === 0) return <Empty>Reading the records of {task} …</Empty>;
  return (
    <dl className="facts">
      {story.claimed ? <RecordLine name="attempt" record={story.claimed} /> : null}
      {run ? (
        <div>
          <dt>iteration</dt>
          <dd>
            {iteration ? (
              <>
                <To path={`/runs/${run}`} params={{ iteration }}>
                  {iteration} in the log of {run}, with its prompt
                </To>{" "}
              </>
            ) : (
              <>
                in the <To path={`/runs/${run}`}>log of {run}</To>{" "}
              </>
            )}
            {story.iteration ? (
              <To path="/history" params={{ record: story.iteration.seq }}>
                record {story.iteration.seq}
              </To>
            ) : null}
          </dd>
        </div>
      ) : null}
      {story.reviews.map((record) => (
        <RecordLine key={record.seq} name="review" record={record} />
      ))}
      {story.merged ? <RecordLine name="merged" record={story.merged} /> : null}
      {story.merged ? (
        <div>
          <dt>then</dt>
          <dd>
            <To path="/board" params={{ at: story.merged.seq }}>
              the swarm as it was at this record
            </To>
          </dd>
        </div>
      ) : null}
    </dl>
  );
}

function CauseCard({ cause, line }: { cause: CauseView; line: number }) {
  const now = useNow();
  return (
    <aside className="card cause" aria-label={`Why line ${line} is there`}>
      <h2>Line {line}</h2>
      <dl className="facts">
        <div>
          <dt>commit</dt>
          <dd>
            <code>{short(cause.commit)}</code> {cause.summary}
          </dd>
        </div>
        <div>
          <dt>by</dt>
          <dd>
            {cause.says_agent ?? cause.author}{" "}
            <span className="dim" title={day(cause.at)}>
              {age(now, cause.at)}
            </span>
          </dd>
        </div>
        <div>
          <dt>task</dt>
          <dd>
            {cause.task ? (
              <TaskLink id={cause.task} />
            ) : (
              <span className="dim">{cause.says_task ? `${cause.says_task} of an earlier plan, as the commit says` : "none: a person’s commit"}</span>
            )}
          </dd>
        </div>
      </dl>
      {cause.task ? <Story key={cause.commit} cause={cause} task={cause.task} /> : null}
    </aside>
  );
}

function FileLines({ file, path, from }: { file: TrunkFile; path: string; from: number }) {
  const { get, set } = useAddress();
  const at = Number(get("line")) || 0;
  const begins = useMemo(() => blocks(file.lines), [file]);
  const chosen = file.lines.find((line) => line.n === at);
  const cause = chosen ? file.causes[chosen.cause] : undefined;
  const last = file.lines.at(-1)?.n ?? 0;
  if (file.unshown) return <Empty>Its lines are not shown: {file.unshown}.</Empty>;
  if (file.lines_total === 0) return <Empty>The file is empty.</Empty>;
  if (file.lines.length === 0)
    return (
      <Empty>
        It has {count(file.lines_total, "line")}, and none from {from} on.{" "}
        <To path="/trunk" params={{ path }}>
          From its beginning
        </To>
      </Empty>
    );
  return (
    <div className={chosen ? "trunkfile chosen" : "trunkfile"}>
      <div>
        <p className="dim">
          {count(file.lines_total, "line")}. A line leads to what brought it.{" "}
          {from > 1 ? (
            <To path="/trunk" params={{ path, from: Math.max(1, from - LINES) }}>
              earlier lines
            </To>
          ) : null}{" "}
          {last < file.lines_total ? (
            <To path="/trunk" params={{ path, from: last + 1 }}>
              later lines
            </To>
          ) : null}
        </p>
        <Rows
          items={file.lines}
          id={(line) => String(line.n)}
          label={`Lines of ${path}`}
          height={22}
          className="codelines"
          row={(line, n) => {
            const of = file.causes[line.cause];
            return (
              <div className={`codeline${line.n === at ? " here" : ""}${begins[n] ? " begins" : ""}`}>
                <button
                  type="button"
                  className="n"
                  aria-label={`Why is line ${line.n} there`}
                  aria-pressed={line.n === at}
                  onClick={() => set({ line: line.n === at ? null : line.n })}
                >
                  {line.n}
                </button>
                <span className="of dim">{begins[n] && of ? `${of.task ?? of.says_agent ?? of.author}` : ""}</span>
                <span className="code">{line.text}</span>
              </div>
            );
          }}
        />
      </div>
      {chosen && cause ? <CauseCard cause={cause} line={chosen.n} /> : null}
    </div>
  );
}

export default function TrunkPage() {
  const { get, at } = useAddress();
  const path = get("path");
  const line = Number(get("line")) || 0;
  const from = Number(get("from")) || (line > LINES ? Math.floor((line - 1) / LINES) * LINES + 1 : 1);
  const { data, error } = useTrunk(path, from, at === null);
  return (
    <Page title={path ? (path.split("/").at(-1) ?? path) : "Trunk"}>
      <Crumbs view={data} path={path} />
      {at !== null ? (
        <Empty>Trunk is shown for the present only.</Empty>
      ) : !data ? (
        <Awaited error={error} what={path || "trunk"} />
      ) : data.entries ? (
        <Folder entries={data.entries} path={path} cut={data.cut ?? false} />
      ) : data.file ? (
        <FileLines file={data.file} path={path} from={from} />
      ) : null}
    </Page>
  );
}
