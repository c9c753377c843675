// Writes src/api/types.ts from the API's own description, so that the pages cannot drift from the coordinator.
// `node scripts/types.mjs --check` compares instead of writing.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const from = fileURLToPath(new URL("../../docs/reference/openapi.json", import.meta.url));
const to = fileURLToPath(new URL("../src/api/types.ts", import.meta.url));

const name = (ref) => ref.split("/").at(-1);
const member = (key) => (/^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key));
const union = (parts) => [...new Set(parts)].join(" | ");

function literal(schema) {
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.enum) return union(schema.enum.map((value) => JSON.stringify(value)));
  return undefined;
}

function object(schema) {
  const required = new Set(schema.required ?? []);
  const members = Object.entries(schema.properties ?? {}).map(([key, value]) => `${member(key)}${required.has(key) ? "" : "?"}: ${type(value)}`);
  const open = schema.additionalProperties;
  if (members.length === 0 && open) return `Record<string, ${type(open)}>`;
  return `{ ${members.join("; ")} }`;
}

function one(kind, schema) {
  switch (kind) {
    case "integer":
    case "number":
      return "number";
    case "string":
    case "boolean":
    case "null":
      return kind;
    case "array": {
      const item = type(schema.items ?? true);
      return /[|&]/.test(item) ? `(${item})[]` : `${item}[]`;
    }
    default:
      return object(schema);
  }
}

function type(schema) {
  if (schema === true || schema === undefined) return "unknown";
  if (schema.$ref) return name(schema.$ref);
  const exact = literal(schema);
  if (exact) return exact;
  const several = schema.oneOf ?? schema.anyOf;
  if (several) {
    const alternatives = union(several.map(type));
    return schema.properties ? `(${alternatives}) & ${object(schema)}` : alternatives;
  }
  if (schema.allOf) return schema.allOf.map(type).join(" & ");
  if (Array.isArray(schema.type)) return union(schema.type.map((kind) => one(kind, schema)));
  if (schema.type) return one(schema.type, schema);
  return schema.properties ? object(schema) : "unknown";
}

export function written() {
  const { components } = JSON.parse(readFileSync(from, "utf8"));
  const lines = ["// Made by `npm run types` from docs/reference/openapi.json. Do not edit.", ""];
  for (const [key, schema] of Object.entries(components.schemas).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const says = schema.description?.split("\n")[0];
    if (says) lines.push(`/** ${says.replaceAll("*/", "* /")} */`);
    lines.push(`export type ${key} = ${type(schema)};`, "");
  }
  return lines.join("\n");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.includes("--check")) {
    if (readFileSync(to, "utf8") !== written()) {
      console.error("src/api/types.ts is not what docs/reference/openapi.json says: run `npm run types`");
      process.exit(1);
    }
  } else {
    writeFileSync(to, written());
  }
}
