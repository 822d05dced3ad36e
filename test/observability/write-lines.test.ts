import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { openSync, readFileSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { cleanedUp } from "../support/cleanup.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const LOG = `import { createLog } from "${new URL("../../src/observability/log.ts", import.meta.url).pathname}";
const log = createLog("info");
`;
/** Writes an entry every millisecond until its input ends. */
const WRITE_UNTIL_TOLD = `${LOG}
setInterval(() => log.info("some entry"), 1);
process.stdin.on("end", () => process.exit(0)).resume();
`;

const nodeArguments = (script: string) => ["--input-type=module", "-e", script];

it("lets a process go on and end when nothing can be written", () => {
  const script = `${LOG}
    log.info("an entry");
    setTimeout(() => {
      log.info("another");
      process.stderr.write("went on", () => process.exit(0));
    }, 200);`;
  const ended = spawnSync(process.execPath, nodeArguments(script), {
    stdio: ["ignore", openSync("/dev/full", "w"), "pipe"],
    timeout: 60_000,
    killSignal: "SIGKILL",
    encoding: "utf8",
  });
  expect([ended.status, ended.stderr]).toEqual([0, "went on"]);
});

it("says how many lines a full disk has cost, once there is room again", { timeout: 60_000 }, async () => {
  const file = join(await temporaryFolder(), "server.log");
  // A limit of the file's size stands for a disk that is full.
  const program = ["-c", 'ulimit -f 8; exec "$@"', "-", process.execPath, ...nodeArguments(WRITE_UNTIL_TOLD)];
  const child = started(spawn("bash", program, { stdio: ["pipe", openSync(file, "a"), "inherit"] }));
  const text = () => readFileSync(file, "utf8");
  await eventually(async () => text().length, 8 * 1024);
  truncateSync(file);
  await eventually(async () => text().includes('"lost"'), true);
  child.stdin?.end();
  expect(await once(child, "exit")).toEqual([0, null]);
  const [first = "", notice = "", next = ""] = text().split("\n");
  // The disk was full in the middle of a line.
  expect(first).toBe("");
  expect(JSON.parse(notice)).toMatchObject({
    level: 40,
    lost: expect.any(Number),
    msg: "log lines could not be written",
  });
  expect(JSON.parse(next)).toMatchObject({ msg: "some entry" });
  // It is full again at the end, and its next notice is lost, too.
  expect(text().match(/"lost"/g)).toHaveLength(1);
});

it("loses nothing that was written before the end of the process", () => {
  const script = `${LOG}
    for (let entry = 0; entry < 5000; entry += 1) log.info({ entry }, "an entry");
    process.exit(0);`;
  const { stdout } = spawnSync(process.execPath, nodeArguments(script), { encoding: "utf8" });
  const entries = stdout
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { entry: number }).entry);
  expect(entries.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 5000 }, (_, entry) => entry));
});

it("keeps sixteen megabytes for a slow reader, however much was written before", async () => {
  const file = join(await temporaryFolder(), "server.log");
  const script = `${LOG}
    import { fstatSync } from "node:fs";
    import { setTimeout as sleep } from "node:timers/promises";
    const text = "x".repeat(2 ** 20);
    let bytes = 0;
    const written = async (entries) => {
      bytes += entries * text.length;
      while (fstatSync(1).size < bytes) await sleep(1);
    };
    for (let entry = 0; entry < 20; entry += 1) {
      log.info(text);
      await written(1);
    }
    // Together, without a pause in which they could be written.
    for (let entry = 0; entry < 20; entry += 1) log.info(text);
    await written(15);
    log.info("the end");`;
  const child = spawn(process.execPath, nodeArguments(script), {
    stdio: ["ignore", openSync(file, "a"), "inherit"],
  });
  cleanedUp(async () => child.kill("SIGKILL"));
  expect(await once(child, "exit")).toEqual([0, null]);
  const entries = readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { msg: string; lost?: number });
  const lost = entries.flatMap(({ lost = 0 }) => lost).reduce((sum, count) => sum + count, 0);
  expect(lost).toBeGreaterThanOrEqual(3);
  expect(entries.filter(({ msg }) => msg.startsWith("x"))).toHaveLength(40 - lost);
  expect(entries.at(-1)).toMatchObject({ msg: "the end" });
});

it.each([
  ["reads no more", () => {}],
  ["has closed the pipe", (child: ChildProcess) => child.stdout?.destroy()],
])("lets a process end whose reader %s", { timeout: 60_000 }, async (_, leave) => {
  const script = `${LOG}
    for (let entry = 0; entry < 20_000; entry += 1) log.info("an entry");
    process.stdin.on("end", () => setTimeout(() => process.exit(0), 200)).resume();`;
  const child = started(
    spawn(process.execPath, nodeArguments(script), { stdio: ["pipe", "pipe", "inherit"] }),
  );
  leave(child);
  child.stdin?.end();
  expect(await once(child, "exit")).toEqual([0, null]);
});

function started(child: ChildProcess): ChildProcess {
  cleanedUp(async () => child.kill("SIGKILL"));
  return child;
}
