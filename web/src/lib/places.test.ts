import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { missing, names, parts, PLACES } from "./places";

interface Schema {
  $ref?: string;
  const?: string;
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
}

const schemas = (
  JSON.parse(readFileSync("../docs/reference/openapi.json", "utf8")) as { components: { schemas: Record<string, Schema & { oneOf: Schema[] }> } }
).components.schemas;
const commands = new Map((schemas["Command"]?.oneOf ?? []).map((one) => [one.properties?.["do"]?.const ?? "", one]));

const code = ["src/lib", "src/ui", "src/pages"]
  .flatMap((folder) => readdirSync(folder).map((name) => `${folder}/${name}`))
  .filter((path) => /\.tsx?$/.test(path) && !/test|places|types/.test(path))
  .map((path) => readFileSync(path, "utf8"))
  .join("\n");

const filling = { task: "1.1", phase: "1", number: "3", yes: "yes", names: "a, b", words: "1.2 One\n1.3 Two", text: "words" } as const;

test("every command of the API has its place in the pages, or a reason why not", () => {
  expect(commands.size).toBeGreaterThan(40);
  expect(Object.keys(PLACES).sort()).toEqual([...commands.keys()].sort());
});

test("what is said to be on a page is asked for by one", () => {
  const absent = Object.entries(PLACES).filter(([command, place]) => place.at === "page" && !code.includes(`do: "${command}"`));
  expect(absent.map(([command]) => command)).toEqual([]);
});

test("a form that is filled in makes its command, with everything that the API requires and nothing that it does not know", () => {
  for (const [command, place] of Object.entries(PLACES)) {
    if (place.at !== "form") continue;
    const { fields, make } = place.form;
    const values = Object.fromEntries(fields.map(({ name, kind }) => [name, filling[kind]]));
    expect(missing(fields, values), command).toBeNull();
    const made = make(values) as unknown as Record<string, unknown>;
    expect(made["do"]).toBe(command);
    const known = commands.get(command);
    expect(
      Object.keys(made).filter((key) => !(key in (known?.properties ?? {}))),
      command,
    ).toEqual([]);
    expect(
      (known?.required ?? []).filter((key) => made[key] === undefined),
      command,
    ).toEqual([]);
    expect(JSON.stringify(made)).not.toContain("NaN");
  }
});

test("a form says what is missing", () => {
  const fields = [
    { name: "a", label: "A", kind: "text" as const },
    { name: "n", label: "N", kind: "number" as const, optional: true },
  ];
  expect([missing(fields, {}), missing(fields, { a: "x", n: "-1" }), missing(fields, { a: "x" })]).toEqual(["A", "N", null]);
  expect([names(" a,b  c "), parts("2.1 First half\n\n2.2")]).toEqual([
    ["a", "b", "c"],
    [
      { id: "2.1", title: "First half" },
      { id: "2.2", title: "2.2" },
    ],
  ]);
});
