import { chmod, mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { embeddedSecrets } from "../../src/config/embedded-secrets.ts";
import { webhookSecrets } from "../../src/config/payments.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

let folder: string;
beforeEach(async () => {
  folder = await temporaryFolder();
});

describe("embeddedSecrets", () => {
  it("are the same for processes that start together, and leave no other file", async () => {
    const [first, ...others] = await Promise.all(Array.from({ length: 5 }, () => embeddedSecrets(folder)));
    for (const other of others) expect(other).toEqual(first);
    expect(await readdir(folder)).toEqual(["secrets.json"]);
  });

  it.each([0o640, 0o604, 0o644, 0o660])("rejects a file that other users can read: %o", async (mode) => {
    await embeddedSecrets(folder);
    const file = join(folder, "secrets.json");
    await chmod(file, mode);
    await expect(embeddedSecrets(folder)).rejects.toThrow(
      `DATA_DIR: other users may read ${file}: run chmod 600 ${file}`,
    );
    await chmod(file, 0o600);
    await expect(embeddedSecrets(folder)).resolves.toBeDefined();
  });

  it("keeps the keys that it derives where a file of an earlier release has none", async () => {
    const { apiKeys: _, ...earlier } = await embeddedSecrets(folder);
    await writeFile(join(folder, "secrets.json"), JSON.stringify(earlier));
    const { apiKeys, ...secrets } = await embeddedSecrets(folder);
    expect(secrets).toEqual(earlier);
    expect(new Set(Object.values(apiKeys)).size).toBe(3);
    expect(apiKeys["provider-a"]).toMatch(/^sim_provider-a_[0-9a-f]{48}$/);
    expect((await embeddedSecrets(folder)).apiKeys).toEqual(apiKeys);
  });

  it("names DATA_DIR when the file cannot be read", async () => {
    await mkdir(join(folder, "secrets.json"), { mode: 0o700 });
    await expect(embeddedSecrets(folder)).rejects.toThrow(/^DATA_DIR: EISDIR: /);
  });

  it("reports how to replace a damaged file", async () => {
    await writeFile(join(folder, "secrets.json"), "{", { mode: 0o600 });
    await expect(embeddedSecrets(folder)).rejects.toThrow(/is damaged: restore it, or delete it/);
  });
});

describe("webhookSecrets", () => {
  it("accepts the simulator's own secrets besides the configured ones, only while it runs", async () => {
    const stored = await embeddedSecrets(folder);
    const of = (variables: Record<string, string>) =>
      webhookSecrets(readConfig(variables), stored)["provider-a"];
    const simulatorSecret = stored.simulatorSecrets["provider-a"];
    const configured = { PROVIDER_A_WEBHOOK_SECRET: "whsec_mine" };
    expect(of({})).toEqual([stored.webhookSecrets["provider-a"], simulatorSecret]);
    expect(of(configured)).toEqual(["whsec_mine", simulatorSecret]);
    expect(of({ ...configured, SIMULATOR: "off" })).toEqual(["whsec_mine"]);
    expect(of({ ...configured, SIMULATOR: "on", PROVIDER_A_API_KEY: "sk_live_1" })).toEqual(["whsec_mine"]);
    // Those that were generated for the embedded database are no secrets of another one's.
    const other = { DATABASE_URL: "postgres://localhost/x", SIMULATOR: "on" };
    expect(of(other)).toEqual([simulatorSecret]);
    expect(simulatorSecret).not.toBe(stored.webhookSecrets["provider-a"]);
  });
});
