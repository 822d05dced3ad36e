import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

type RunningProcess = { id: number; group: number; command: string };

const GRACE_MS = 5_000;
const GIVE_UP_MS = 30_000;
const CHECK_EVERY_MS = 100;

/** Ends the process groups that these processes lead: `SIGTERM`, then `SIGKILL` for what is left after 5 s. */
export function endGroups(leaders: readonly number[]): Promise<void> {
  return end(
    ({ group }) => leaders.includes(group),
    () => {
      for (const leader of leaders) signalGroup(leader, "SIGTERM");
    },
  );
}

/**
 * Ends the processes that have this folder among their arguments, as every PostgreSQL does that keeps its data
 * there: it is in a group of its own. `SIGINT`, as PostgreSQL then waits for no client; `SIGKILL` after 5 s.
 */
export function endUsersOf(folder: string): Promise<void> {
  return end(
    ({ command }) => command.includes(folder),
    (processes) => {
      for (const { id } of processes) signal(id, "SIGINT");
    },
  );
}

/** Does nothing when no process of the group is left. */
export function signalGroup(leader: number, name: NodeJS.Signals): void {
  signal(-leader, name);
}

async function end(
  isMeant: (process: RunningProcess) => boolean,
  terminate: (processes: readonly RunningProcess[]) => void,
): Promise<void> {
  const left = async () => (await runningProcesses()).filter(isMeant);
  terminate(await left());
  for (let waitedMs = 0; waitedMs < GIVE_UP_MS; waitedMs += CHECK_EVERY_MS) {
    const processes = await left();
    if (processes.length === 0) return;
    if (waitedMs >= GRACE_MS) for (const { id } of processes) signal(id, "SIGKILL");
    await sleep(CHECK_EVERY_MS);
  }
}

/** The processes of all users, without the dead whose parents have not noticed. */
export async function runningProcesses(): Promise<RunningProcess[]> {
  const columns = ["pid=", "pgid=", "stat=", "args="].flatMap((column) => ["-o", column]);
  const { stdout } = await promisify(execFile)("ps", ["-A", "-ww", ...columns], {
    maxBuffer: 16 * 1024 * 1024,
  });
  return stdout.split("\n").flatMap((line) => {
    const [, id, group, state, command] = /^ *(\d+) +(\d+) +(\S+) +(.*)$/.exec(line) ?? [];
    if (command === undefined || state?.startsWith("Z")) return [];
    return [{ id: Number(id), group: Number(group), command }];
  });
}

function signal(id: number, name: NodeJS.Signals): void {
  try {
    process.kill(id, name);
  } catch {
    // It has ended.
  }
}
