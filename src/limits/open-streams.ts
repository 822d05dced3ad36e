export type OpenStreams = {
  /**
   * Opens one more for a user or key: returns how to close it, which may be called again; `null`: too many
   * are open.
   */
  take(id: string): (() => void) | null;
};

/** Counts responses that are being streamed, in this process. */
export function openStreams(maxPerId: number): OpenStreams {
  const counts = new Map<string, number>();
  return {
    take: (id) => {
      const count = counts.get(id) ?? 0;
      if (count >= maxPerId) return null;
      counts.set(id, count + 1);
      let isOpen = true;
      return () => {
        if (!isOpen) return;
        isOpen = false;
        const remaining = (counts.get(id) ?? 1) - 1;
        if (remaining === 0) counts.delete(id);
        else counts.set(id, remaining);
      };
    },
  };
}
