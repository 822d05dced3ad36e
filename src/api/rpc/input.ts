import type { TRPCCombinedDataTransformer } from "@trpc/server";
import superjson from "superjson";
import { z } from "zod";
import { refuse } from "../../domain/refusals/refusal.ts";
import { assertStorableText } from "../../http/inspect-json.ts";

/** Parses one call's input when the call runs: an unreadable input must not fail its batch. */
export type InputReader = () => unknown;

/**
 * superjson, except for input: only scalars that JSON lacks are revived. Its containers would let a few bytes
 * allocate gigabytes (a typed array's length), and its paths reach outside the input.
 */
export const transformer: TRPCCombinedDataTransformer = {
  input: { serialize: superjson.serialize, deserialize: readerOf },
  output: superjson,
};

const Envelope = z.strictObject({
  json: z.unknown().optional(),
  meta: z
    .strictObject({
      values: z.union([z.tuple([z.string()]), z.record(z.string(), z.tuple([z.string()]))]).optional(),
      v: z.literal([0, 1]).optional(),
    })
    .optional(),
});

function readerOf(input: unknown): InputReader {
  return () => readInput(input);
}

/** @param input one call's, parsed from JSON, and changed in place @throws Refusal `invalid_input` */
function readInput(input: unknown): unknown {
  assertStorableText(input);
  const envelope = Envelope.safeParse(input);
  if (!envelope.success) {
    refuse({
      reason: "invalid_input",
      params: {
        problem: "wrong_type",
        expected: "an input as superjson writes it: { json, meta }, with scalars alone",
      },
    });
  }
  const { json, meta: { values = {} } = {} } = envelope.data;
  if (Array.isArray(values)) return restored(json, values[0]);
  for (const [path, [type]] of Object.entries(values)) {
    const names = namesOf(path);
    const last = names.pop() as string;
    const parent = names.reduce(below, json);
    const value = below(parent, last);
    (parent as Record<string, unknown>)[last] = restored(value, type);
  }
  return json;
}

/** tRPC's infinite queries say which way they go: ours go one way. @param input of a list */
export function withoutDirection(input: unknown): unknown {
  if (typeof input !== "object" || input === null) return input;
  const { direction, ...rest } = input as Record<string, unknown>;
  return direction === "forward" ? rest : input;
}

/** A path's names have a dot between them; a dot or a backslash of their own follows a backslash. */
function namesOf(path: string): string[] {
  const names: string[] = [];
  let name = "";
  for (let i = 0; i < path.length; i++) {
    if (path[i] === ".") {
      names.push(name);
      name = "";
    } else {
      name += path[i] === "\\" ? (path[++i] ?? "") : path[i];
    }
  }
  return [...names, name];
}

/** Only what was sent: neither what objects inherit, nor a list's length. */
function below(parent: unknown, name: string): unknown {
  if (
    typeof parent !== "object" ||
    parent === null ||
    !Object.prototype.propertyIsEnumerable.call(parent, name)
  ) {
    refuse({ reason: "invalid_input", params: { problem: "unknown_field" }, field: `meta.values.${name}` });
  }
  return (parent as Record<string, unknown>)[name];
}

function restored(value: unknown, type: string): unknown {
  switch (type) {
    case "undefined":
      return undefined;
    case "Date":
      if (typeof value === "string") return new Date(value);
      break;
    case "number":
      if (typeof value === "string") return Number(value);
      break;
    case "bigint":
      if (typeof value === "string" && /^-?\d{1,100}$/.test(value)) return BigInt(value);
      break;
  }
  return refuse({
    reason: "invalid_input",
    params: { problem: "wrong_type", expected: "undefined, Date, number or bigint, and its text" },
    field: "meta.values",
  });
}
