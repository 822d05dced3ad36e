import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { loadHooks } from "../../src/runtime/load-hooks.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

let folder: string;
beforeEach(async () => {
  folder = await temporaryFolder();
});

it("finds none among the product's own plugins", async () => {
  expect(await loadHooks()).toEqual([]);
});

it("loads the plugins that export a hook, by their files' names, and no other", async () => {
  await writeFile(
    join(folder, "b.ts"),
    'export const name = "b"; export function withSubscriptionChange() {}',
  );
  await writeFile(
    join(folder, "a.ts"),
    'export const name = "a"; export const afterSubscriptionChange = () => {};',
  );
  await writeFile(join(folder, "routes.ts"), 'throw new Error("not loaded");');
  await mkdir(join(folder, "parts.ts"));
  expect(await loadHooks(folder)).toEqual([
    { name: "a", afterSubscriptionChange: expect.any(Function) },
    { name: "b", withSubscriptionChange: expect.any(Function) },
  ]);
});

it.each([
  ["no name", "export function withSubscriptionChange() {}", 'plugin a.ts: export a const "name"'],
  [
    "a hook that is no function",
    'export const name = "a"; export const afterSubscriptionChange = 1;',
    'plugin a.ts: "afterSubscriptionChange" must be a function',
  ],
  ["what throws", 'throw new Error("withSubscriptionChange")', "plugin a.ts: withSubscriptionChange"],
])("rejects %s, and names the file", async (_, text, message) => {
  await writeFile(join(folder, "a.ts"), text);
  await expect(loadHooks(folder)).rejects.toThrow(message);
});
