import { randomBytes } from "node:crypto";
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { SLOTS } from "./domain/slot.ts";

const EmbeddedSecrets = z.object({
  authSecret: z.string().min(32),
  webhookSecrets: z.record(z.enum(SLOTS), z.string().min(1)),
});

export type EmbeddedSecrets = z.infer<typeof EmbeddedSecrets>;

/** The secrets of the embedded mode: made once, kept in `dataDir/secrets.json`, readable by its owner only. */
export async function embeddedSecrets(dataDir: string): Promise<EmbeddedSecrets> {
  await mkdir(dataDir, { recursive: true });
  const file = join(dataDir, "secrets.json");
  try {
    return EmbeddedSecrets.parse(JSON.parse(await readFile(file, "utf8")));
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
  const webhookSecrets = SLOTS.map((slot) => [slot, `whsec_${randomBytes(24).toString("base64")}`]);
  return {
    authSecret: randomBytes(32).toString("base64url"),
    webhookSecrets: Object.fromEntries(webhookSecrets),
  };
}
