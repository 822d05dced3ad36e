import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { z } from "zod";
import { FORMATS } from "../../src/domain/refusals/input-problems.ts";
import { invalidInput, whetherMissing } from "../../src/domain/refusals/invalid-input.ts";
import { COMMON_REASONS, type Reason } from "../../src/domain/refusals/reasons.ts";
import { refuse } from "../../src/domain/refusals/refusal.ts";
import { defineOperation, execute, type Operation } from "../../src/operations/operation.ts";

const gate = { limits: null, observe: null };
const call = () => ({ caller: { kind: "anonymous", address: "192.0.2.1" } as const, charges: [] });

const refusing = (reasons: readonly Reason[]) =>
  defineOperation({
    name: "tests.refuse",
    summary: "Always refuses",
    access: "anyone",
    limit: null,
    input: z.strictObject({}),
    reasons,
    output: z.null(),
    run: async () => refuse({ reason: "events_dropped" }),
  });

it("turns a refusal for an undeclared reason into a defect", async () => {
  await expect(execute(refusing(["email_taken"]), gate, call(), () => ({}))).rejects.toThrow(
    'tests.refuse: add "events_dropped" to its reasons',
  );
});

it("rethrows a refusal for a declared reason, and in production for any reason", async () => {
  const refusal = { reason: "events_dropped" };
  await expect(execute(refusing(["events_dropped"]), gate, call(), () => ({}))).rejects.toMatchObject(
    refusal,
  );
  await expect(
    execute(refusing([]), { ...gate, isProduction: true }, call(), () => ({})),
  ).rejects.toMatchObject(refusal);
});

it("declares every reason that an operation's file names", async () => {
  const undeclared: string[] = [];
  for (const { file, text, operations } of await operationFiles()) {
    for (const { reasons } of operations) {
      const declared = [...reasons, ...COMMON_REASONS];
      for (const [, reason] of text.matchAll(/reason: "(\w+)"/g)) {
        if (!declared.includes(reason as Reason)) undeclared.push(join(file, reason as string));
      }
    }
  }
  expect(undeclared).toEqual([]);
});

it("has words for every format of a text that an operation takes", async () => {
  const withoutWords: string[] = [];
  let formats = 0;
  for (const { operations } of await operationFiles()) {
    for (const { name, input } of operations) {
      for (const [field, schema] of Object.entries(input instanceof z.ZodObject ? input.shape : {})) {
        const { error } = (schema as z.ZodType).safeParse("?", { error: whetherMissing });
        if (error?.issues[0]?.code !== "invalid_format") continue;
        formats += 1;
        const { format } = invalidInput(error).params as { format: string };
        if (!(format in FORMATS)) withoutWords.push(`${name} ${field}: ${format}`);
      }
    }
  }
  expect(formats).toBeGreaterThan(10);
  expect(withoutWords).toEqual([]);
});

async function operationFiles() {
  const folder = new URL("../../src/operations/", import.meta.url);
  const names = (await readdir(folder, { recursive: true })).filter((file) => /^.+\/.+\.ts$/.test(file));
  const files = await Promise.all(
    names.map(async (file) => ({
      file,
      text: await readFile(new URL(file, folder), "utf8"),
      operations: Object.values(await import(new URL(file, folder).href)).filter(isOperation),
    })),
  );
  expect(files.flatMap(({ operations }) => operations).length).toBeGreaterThan(40);
  return files;
}

function isOperation(value: unknown): value is Operation<never> {
  return typeof value === "object" && value !== null && "reasons" in value;
}
