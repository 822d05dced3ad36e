import { execFile } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/**
 * Reads `postmaster.pid`: pid, folder, start time, port, ..., and in the eighth line the state. `null`: not
 * running.
 */
export async function runningPostgres(cluster: string): Promise<{ port: number; state: string } | null> {
  const file = join(cluster, "postmaster.pid");
  const text = await readFile(file, "utf8").catch(() => null);
  if (text === null) return null;
  const lines = text.split("\n");
  const owner = await ownerOf(Number(lines[0]), cluster);
  if (owner === "us") return { port: Number(lines[3]), state: lines[7]?.trim() ?? "" };
  // After a reboot the pid may belong to another process, which PostgreSQL would mistake for itself.
  if (owner === "others" && (await readFile(file, "utf8").catch(() => null)) === text)
    await rm(file, { force: true });
  return null;
}

async function ownerOf(pid: number, cluster: string): Promise<"us" | "others" | "nobody"> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return "nobody";
  }
  const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(async () => {
    const { stdout } = await run("ps", ["-o", "args=", "-p", String(pid)]).catch(() => ({ stdout: "" }));
    return stdout;
  });
  return command.includes(cluster) ? "us" : "others";
}
