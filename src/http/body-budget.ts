/** A body that is being read. */
export type BodyReader = {
  /** Stops reading and frees what has been read. */
  abandon(): void;
};

/**
 * Bounds the memory of all bodies being read. Above the bound the oldest is abandoned: it is a stalled
 * upload, whereas a delivery is small and arrives at once.
 */
export class BodyBudget {
  readonly #maxBytes: number;
  /** In the order in which reading started. */
  readonly #bytesOf = new Map<BodyReader, number>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(reader: BodyReader, bytes: number): void {
    this.#bytesOf.set(reader, (this.#bytesOf.get(reader) ?? 0) + bytes);
    this.#bytes += bytes;
    while (this.#bytes > this.#maxBytes) {
      const [oldest] = this.#bytesOf.keys() as Iterable<BodyReader> as [BodyReader];
      this.release(oldest);
      oldest.abandon();
    }
  }

  release(reader: BodyReader): void {
    this.#bytes -= this.#bytesOf.get(reader) ?? 0;
    this.#bytesOf.delete(reader);
  }
}
