import { createHmac, randomBytes } from "node:crypto";
import { link, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { perSlot, SLOTS, type Slot } from "../domain/slot.ts";
import { ConfigError } from "./config-error.ts";

const PerSlot = z.record(z.enum(SLOTS), z.string().min(1));

const SecretsFile = z.object({
  authSecret: z.string().min(32),
  webhookSecrets: PerSlot,
  /** For calls to the simulator; missing in files of earlier releases. */
  apiKeys: PerSlot.optional(),
});

type StoredSecrets = z.infer<typeof SecretsFile>;

export type EmbeddedSecrets = StoredSecrets & {
  apiKeys: Record<Slot, string>;
  /** The simulator signs with these; real webhooks never do. */
  simulatorSecrets: Record<Slot, string>;
};

/**
 * The secrets of the embedded mode: generated once, stored in `dataDir/secrets.json`, readable by its owner
 * only.
 */
export async function embeddedSecrets(dataDir: string): Promise<EmbeddedSecrets> {
  const stored = await storedSecrets(dataDir);
  if (stored !== null) return stored;
  await mkdir(dataDir, { recursive: true });
  // Written completely, then linked: of several processes that start together, one wins and all read the same
  // file.
  const file = fileIn(dataDir);
  const draft = `${file}.${randomBytes(6).toString("hex")}`;
  await writeFile(draft, `${JSON.stringify(newSecrets(), null, 2)}\n`, { mode: 0o600 });
  await link(draft, file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  await rm(draft);
  return embeddedSecrets(dataDir);
}

/** The same without generating any; `null`: there are none yet. */
export async function storedSecrets(dataDir: string): Promise<EmbeddedSecrets | null> {
  const file = fileIn(dataDir);
  try {
    const { mode } = await stat(file);
    if ((mode & 0o077) !== 0)
      throw new ConfigError(`DATA_DIR: other users may read ${file}: run chmod 600 ${file}`);
    return withDerived(SecretsFile.parse(JSON.parse(await readFile(file, "utf8"))));
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) {
      throw new Error(`${file} is damaged: restore it, or delete it to have new secrets made`, {
        cause: error,
      });
    }
    if (code !== "ENOENT") throw new ConfigError(`DATA_DIR: ${message}`, { cause: error });
    return null;
  }
}

function fileIn(dataDir: string): string {
  return join(dataDir, "secrets.json");
}

function newSecrets(): Required<StoredSecrets> {
  return {
    authSecret: randomBytes(32).toString("base64url"),
    webhookSecrets: perSlot(() => `whsec_${randomBytes(24).toString("base64")}`),
    apiKeys: perSlot((slot) => `sim_${slot}_${randomBytes(24).toString("hex")}`),
  };
}

// Derived from the stored secrets, so that files of earlier releases need not be rewritten.
function withDerived(stored: StoredSecrets): EmbeddedSecrets {
  const derive = (purpose: string) => createHmac("sha256", stored.authSecret).update(purpose).digest();
  const apiKey = (slot: Slot) => `sim_${slot}_${derive(`api key ${slot}`).toString("hex").slice(0, 48)}`;
  return {
    ...stored,
    apiKeys: stored.apiKeys ?? perSlot(apiKey),
    simulatorSecrets: perSlot(
      (slot) => `whsec_${derive(`simulator webhook ${slot}`).subarray(0, 24).toString("base64")}`,
    ),
  };
}
