import { write, writeSync } from "node:fs";

/** For a reader that has stopped reading; lines beyond it are lost. */
const MAX_PENDING_CHARACTERS = 16 * 1024 * 1024;
/** What is being written when the process ends may be cut off. */
const MAX_CHUNK_CHARACTERS = 16 * 1024;
const RETRY_AFTER_MS = 100;
/** How long the end of the process waits for a slow reader. */
const EXIT_WITHIN_MS = 2_000;
const EXIT_PAUSE_MS = 20;
const NEWLINE = 0x0a;

type LineWriter = { write(line: string): void };

let shared: LineWriter | null = null;

/** One writer for all logs of the process. */
export function stdoutLines(): LineWriter {
  // Hosts of functions replace this method, to know which request the output is of.
  if (process.stdout.write !== Object.getPrototypeOf(process.stdout).write) return process.stdout;
  shared ??= writeLinesTo(1);
  return shared;
}

/**
 * Writes lines in their order without waiting, and the last ones as the process ends. Lines that cannot be
 * written, as on a full disk, are lost, and their number is written later. (Pino's own stream tries again for
 * ever before a process ends.)
 */
function writeLinesTo(fd: number): LineWriter {
  const pending: string[] = [];
  let pendingCharacters = 0;
  let chunk = Buffer.alloc(0);
  let state: "idle" | "writing" | "waiting" = "idle";
  let lost = 0;
  /** What of `lost` the chunk says in its first line. */
  let announced = 0;
  /** Lines of the chunk that are not the log's. */
  let added = 0;
  let isTorn = false;

  const writeNext = () => {
    state = "idle";
    const lines = pending.shift();
    if (lines === undefined) return;
    pendingCharacters -= lines.length;
    chunk = Buffer.from(`${isTorn ? "\n" : ""}${lost > 0 ? lostLine(lost) : ""}${lines}`);
    added = (isTorn ? 1 : 0) + (lost > 0 ? 1 : 0);
    announced = lost;
    writeChunk();
  };
  const writeChunk = () => {
    state = "writing";
    write(fd, chunk, (error, bytes) => {
      if (error !== null && isBusy(error)) {
        state = "waiting";
        setTimeout(writeChunk, RETRY_AFTER_MS).unref();
        return;
      }
      if (error === null) accept(bytes);
      else drop();
      if (chunk.length > 0) writeChunk();
      else writeNext();
    });
  };
  const accept = (bytes: number) => {
    if (bytes === 0) return;
    isTorn = chunk[bytes - 1] !== NEWLINE;
    chunk = chunk.subarray(bytes);
    lost -= announced;
    announced = added = 0;
  };
  const drop = () => {
    lost += chunk.filter((byte) => byte === NEWLINE).length - added;
    chunk = chunk.subarray(chunk.length);
  };

  process.once("exit", () => {
    // What is being written is finished by the process itself.
    const unsent = state === "waiting" ? [chunk] : [];
    writeAtExit(fd, Buffer.concat([...unsent, Buffer.from(pending.join(""))]));
  });
  return {
    write: (line) => {
      if (pendingCharacters + line.length > MAX_PENDING_CHARACTERS) {
        lost += 1;
        return;
      }
      pendingCharacters += line.length;
      const last = pending.length - 1;
      if (last < 0 || (pending[last] as string).length + line.length > MAX_CHUNK_CHARACTERS)
        pending.push(line);
      else pending[last] += line;
      if (state === "idle") writeNext();
    },
  };
}

function writeAtExit(fd: number, lines: Buffer): void {
  const deadline = performance.now() + EXIT_WITHIN_MS;
  for (let rest = lines; rest.length > 0; ) {
    try {
      rest = rest.subarray(writeSync(fd, rest));
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, EXIT_PAUSE_MS);
    }
  }
}

function isBusy(error: unknown): boolean {
  return /^(?:EAGAIN|EBUSY|EINTR)$/.test((error as NodeJS.ErrnoException).code ?? "");
}

function lostLine(lost: number): string {
  return `{"level":40,"time":"${new Date().toISOString()}","lost":${lost},"msg":"log lines could not be written"}\n`;
}
