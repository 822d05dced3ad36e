import { Socket } from "node:net";
import pg from "pg";
import type { RowReading } from "./burst.ts";
import { type Read, ReadBurst } from "./read-burst.ts";
import { StatementBurst } from "./statement-burst.ts";

type Waiting = {
  config: pg.QueryConfig;
  resolve(rows: object[]): void;
  reject(error: unknown): void;
};

/**
 * A client that sends the statements of one turn of the event loop with one system call. The driver writes
 * each separately; on loopback that is most of what a transaction costs this process.
 */
export class BurstClient extends pg.Client {
  readonly #socket: Socket;
  #held = false;
  #waiting: Waiting[] = [];
  #standbyWaitCanceled = false;
  readonly #reading: RowReading = {
    shapes: new Map(),
    typeParser: (typeId) => this.getTypeParser(typeId, "text"),
  };

  constructor(config: pg.ClientConfig = {}) {
    const socket = new Socket();
    super({ ...config, stream: () => socket });
    this.#socket = socket;
    this.on("notice", ({ routine }) => {
      if (routine === STANDBY_WAIT) this.#standbyWaitCanceled = true;
    });
  }

  /** Buffers writes until this turn of the event loop is over. */
  burst(): void {
    if (this.#held) return;
    this.#held = true;
    this.#socket.cork();
    // Not setImmediate, which would wait for other work.
    process.nextTick(() => {
      this.#held = false;
      this.#socket.uncork();
    });
  }

  /**
   * Sends a statement with the others of this turn, see `StatementBurst`: they belong to one transaction, so
   * that when one fails all of them do.
   */
  runTogether(config: pg.QueryConfig): Promise<object[]> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) process.nextTick(() => this.#sendWaiting());
      this.#waiting.push({ config, resolve, reject });
    });
  }

  #sendWaiting(): void {
    if (this.#waiting.length === 0) return;
    const statements = this.#waiting;
    this.#waiting = [];
    const burst = new StatementBurst(
      statements.map(({ config }) => config),
      this.#reading,
      (driverError, rows) => {
        const error = driverError ?? this.#standbyError();
        for (const [index, { resolve, reject }] of statements.entries())
          if (error) reject(error);
          else resolve(rows[index] as object[]);
      },
    );
    this.burst();
    super.query(burst as unknown as pg.Submittable);
  }

  /** Sends statements that only read, see `ReadBurst`. */
  runReads(reads: readonly Read[], done: (error: Error | null, unanswered: readonly Read[]) => void): void {
    this.burst();
    super.query(new ReadBurst(reads, this.#reading, done) as unknown as pg.Submittable);
  }

  /** Ends a connection that is taking too long. */
  abandon(): void {
    this.#socket.destroy();
  }

  /**
   * PostgreSQL reports a commit as done, with a warning, when its wait for a synchronous standby was
   * canceled. A failover would lose it, so its outcome is unknown, as after a lost connection.
   */
  // biome-ignore lint/suspicious/noExplicitAny: the driver has ten overloads
  override query(...parameters: any[]): any {
    this.#sendWaiting();
    const callback = parameters.at(-1);
    if (typeof callback === "function") {
      const checked = (error: Error | null, result: unknown) =>
        callback(error ?? this.#standbyError(), result);
      return Reflect.apply(super.query, this, [...parameters.slice(0, -1), checked]);
    }
    const running: Promise<unknown> = Reflect.apply(super.query, this, parameters);
    return running.then((result) => {
      const error = this.#standbyError();
      if (error) throw error;
      return result;
    });
  }

  #standbyError(): Error | null {
    if (!this.#standbyWaitCanceled) return null;
    return new Error("the wait for a synchronous standby was canceled: a failover may lose the commit");
  }
}

/** Warnings are translated and have no code of their own; their location in PostgreSQL's source is stable. */
const STANDBY_WAIT = "SyncRepWaitForLSN";
