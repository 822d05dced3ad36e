export type OpenStreams = {
  /** Opens one more for a person: returns how to close it, which may be called again; `null`: too many are open. */
  take(userId: string): (() => void) | null;
};

/** Counts answers that are being streamed, in this process. */
export function openStreams(maxPerPerson: number): OpenStreams {
  const counts = new Map<string, number>();
  return {
    take: (userId) => {
      const count = counts.get(userId) ?? 0;
      if (count >= maxPerPerson) return null;
      counts.set(userId, count + 1);
      let isOpen = true;
      return () => {
        if (!isOpen) return;
        isOpen = false;
        const left = (counts.get(userId) ?? 1) - 1;
        if (left === 0) counts.delete(userId);
        else counts.set(userId, left);
      };
    },
  };
}
