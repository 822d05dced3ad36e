/** Times in one block, and blocks in one page, as powers of two. */
const BLOCK_BITS = 2;
const PAGE_BITS = 12;
const WITHIN_BLOCK = (1 << BLOCK_BITS) - 1;
const WITHIN_PAGE = (1 << (BLOCK_BITS + PAGE_BITS)) - 1;

/**
 * Queues of times, in linked blocks of four within a few large arrays: about 9 bytes per time and no garbage,
 * where an array per queue would cost more than its content. A position is one time in one block.
 */
export class Blocks {
  readonly #times: Float64Array[] = [];
  readonly #links: Int32Array[] = [];
  #vacant: number = NONE;
  #end = 0;

  /** @returns the first position of an empty block */
  take(): number {
    const block = this.#vacant;
    if (block !== NONE) {
      this.#vacant = this.#linkOf(block);
      return block << BLOCK_BITS;
    }
    if (this.#end === this.#links.length << PAGE_BITS) {
      this.#links.push(new Int32Array(1 << PAGE_BITS));
      this.#times.push(new Float64Array(1 << (BLOCK_BITS + PAGE_BITS)));
    }
    return this.#end++ << BLOCK_BITS;
  }

  timeAt(position: number): number {
    const page = this.#times[position >>> (BLOCK_BITS + PAGE_BITS)] as Float64Array;
    return page[position & WITHIN_PAGE] as number;
  }

  write(position: number, time: number): void {
    (this.#times[position >>> (BLOCK_BITS + PAGE_BITS)] as Float64Array)[position & WITHIN_PAGE] = time;
  }

  /** The position after this one, which is not the last of its queue. */
  after(position: number): number {
    return isLast(position) ? this.#linkOf(position >>> BLOCK_BITS) << BLOCK_BITS : position + 1;
  }

  /** The position `count` after this one; the queue must be that long. */
  further(position: number, count: number): number {
    let block = position >>> BLOCK_BITS;
    let offset = (position & WITHIN_BLOCK) + count;
    for (; offset > WITHIN_BLOCK; offset -= WITHIN_BLOCK + 1) block = this.#linkOf(block);
    return (block << BLOCK_BITS) + offset;
  }

  /** The position after the last of a queue. */
  extend(position: number): number {
    if (!isLast(position)) return position + 1;
    const added = this.take();
    this.#link(position >>> BLOCK_BITS, added >>> BLOCK_BITS);
    return added;
  }

  /** The position after the first of a queue; a block that becomes empty is freed. */
  shorten(position: number): number {
    if (!isLast(position)) return position + 1;
    const next = this.after(position);
    this.free(position);
    return next;
  }

  /** Frees the block of this position. */
  free(position: number): void {
    const block = position >>> BLOCK_BITS;
    this.#link(block, this.#vacant);
    this.#vacant = block;
  }

  #linkOf(block: number): number {
    return (this.#links[block >>> PAGE_BITS] as Int32Array)[block & ((1 << PAGE_BITS) - 1)] as number;
  }

  #link(block: number, to: number): void {
    (this.#links[block >>> PAGE_BITS] as Int32Array)[block & ((1 << PAGE_BITS) - 1)] = to;
  }
}

const NONE = -1;

function isLast(position: number): boolean {
  return (position & WITHIN_BLOCK) === WITHIN_BLOCK;
}
