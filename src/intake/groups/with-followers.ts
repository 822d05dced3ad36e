import { keysOf } from "../queue/keys.ts";
import type { ReadEvent } from "../read-event.ts";

/**
 * The delayed events of a group, and those behind them that may touch the same subscription: these must be
 * delayed too, so that their order stays.
 */
export function withFollowers<Event extends ReadEvent>(
  group: readonly Event[],
  isDelayed: (event: Event, index: number) => boolean,
): Set<Event> {
  const delayed = new Set<Event>();
  const keys = new Set<string>();
  for (const [index, event] of group.entries()) {
    const isBehind = keys.size > 0 && keysOf(event).some((key) => keys.has(key));
    if (!isBehind && !isDelayed(event, index)) continue;
    delayed.add(event);
    for (const key of keysOf(event)) keys.add(key);
  }
  return delayed;
}
