import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { z } from "zod";
import { COMMON_REASONS, type Reason } from "../../src/domain/refusals/reasons.ts";
import { refuse } from "../../src/domain/refusals/refusal.ts";
import { defineOperation, execute } from "../../src/operations/operation.ts";

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
  const folder = new URL("../../src/operations/", import.meta.url);
  const files = (await readdir(folder, { recursive: true })).filter((file) => /^.+\/.+\.ts$/.test(file));
  const undeclared: string[] = [];
  let operations = 0;
  for (const file of files) {
    const text = await readFile(new URL(file, folder), "utf8");
    const module: Record<string, unknown> = await import(new URL(file, folder).href);
    for (const value of Object.values(module)) {
      if (typeof value !== "object" || value === null || !("reasons" in value)) continue;
      operations += 1;
      const declared = [...(value.reasons as Reason[]), ...COMMON_REASONS];
      for (const [, reason] of text.matchAll(/reason: "(\w+)"/g)) {
        if (!declared.includes(reason as Reason)) undeclared.push(join(file, reason as string));
      }
    }
  }
  expect(operations).toBeGreaterThan(40);
  expect(undeclared).toEqual([]);
});
