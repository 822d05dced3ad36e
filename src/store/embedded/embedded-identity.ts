import { execFile } from "node:child_process";
import { readFile, readlink } from "node:fs/promises";
import { hostname } from "node:os";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Equal in all processes that see each other's pids and reach the same 127.0.0.1, until the machine restarts. */
export function ownIdentity(): Promise<string> {
  identity ??= readIdentity();
  return identity;
}

let identity: Promise<string> | null = null;

async function readIdentity(): Promise<string> {
  const parts = [bootId(), namespaceOf("pid"), namespaceOf("net")];
  return (await Promise.all(parts)).filter(Boolean).join(" ");
}

async function bootId(): Promise<string> {
  const id = await readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(async () => {
    const { stdout } = await run("sysctl", ["-n", "kern.bootsessionuuid"]).catch(() => ({ stdout: "" }));
    return stdout;
  });
  return id.trim() || hostname();
}

/** Only Linux has them. */
function namespaceOf(kind: "pid" | "net"): Promise<string> {
  return readlink(`/proc/self/ns/${kind}`).catch(() => "");
}
