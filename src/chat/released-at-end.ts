/** The same stream; calls back once it has been read to its end or is cancelled. */
export function releasedAtEnd<Chunk>(
  stream: ReadableStream<Chunk>,
  release: () => void,
): ReadableStream<Chunk> {
  const reader = stream.getReader();
  return new ReadableStream<Chunk>({
    pull: async (controller) => {
      const { done, value } = await reader.read();
      if (!done) return controller.enqueue(value);
      release();
      controller.close();
    },
    cancel: (reason) => {
      release();
      return reader.cancel(reason);
    },
  });
}
