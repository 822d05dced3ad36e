import { createHmac, randomBytes } from "node:crypto";
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { SLOTS, type Slot } from "../domain/slot.ts";

const PerSlot = z.record(z.enum(SLOTS), z.string().min(1));

const SecretsFile = z.object({
  authSecret: z.string().min(32),
  webhookSecrets: PerSlot,
  /** With which the simulated provider is asked; not in files of before there was one. */
  apiKeys: PerSlot.optional(),
});

type Kept = z.infer<typeof SecretsFile>;

export type EmbeddedSecrets = Kept & { apiKeys: Record<Slot, string> };

/** The secrets of the embedded mode: made once, kept in `dataDir/secrets.json`, readable by its owner only. */
export async function embeddedSecrets(dataDir: string): Promise<EmbeddedSecrets> {
  await mkdir(dataDir, { recursive: true });
  const file = join(dataDir, "secrets.json");
  try {
    return withApiKeys(SecretsFile.parse(JSON.parse(await readFile(file, "utf8"))));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) {
      throw new Error(`${file} is damaged: restore it, or delete it to have new secrets made`, {
        cause: error,
      });
    }
    if (code !== "ENOENT") throw error;
  }
  // Linked into place whole: of several processes that start together, one wins and all read the same.
  const draft = `${file}.${randomBytes(6).toString("hex")}`;
  await writeFile(draft, `${JSON.stringify(newSecrets(), null, 2)}\n`, { mode: 0o600 });
  await link(draft, file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  await rm(draft);
  return embeddedSecrets(dataDir);
}

function newSecrets(): EmbeddedSecrets {
  return {
    authSecret: randomBytes(32).toString("base64url"),
    webhookSecrets: perSlot(() => `whsec_${randomBytes(24).toString("base64")}`),
    apiKeys: perSlot((slot) => `sim_${slot}_${randomBytes(24).toString("hex")}`),
  };
}

// Made from what an older file holds: the same each time, so that nobody has to write into it beside another process.
function withApiKeys(kept: Kept): EmbeddedSecrets {
  const derived = (slot: Slot) =>
    createHmac("sha256", kept.authSecret).update(`api key ${slot}`).digest("hex").slice(0, 48);
  return { ...kept, apiKeys: kept.apiKeys ?? perSlot((slot) => `sim_${slot}_${derived(slot)}`) };
}

function perSlot(value: (slot: Slot) => string): Record<Slot, string> {
  return Object.fromEntries(SLOTS.map((slot) => [slot, value(slot)])) as Record<Slot, string>;
}
