import { z } from "zod";
import { isoText } from "./iso-text.ts";

/** A time as ISO 8601 text, or as the `Date` that RPC clients receive and send back. */
export const TimeInput = z.preprocess(textOf, z.iso.datetime({ offset: true }));

function textOf(time: string | Date): string {
  if (!(time instanceof Date)) return time;
  return Number.isNaN(time.getTime()) ? String(time) : isoText(time);
}
