/** How a provider delivers its events. */
export type DeliveryPolicy = {
  /** Responses that count as receipt. */
  accepts(status: number): boolean;
  answerWithinMs: number;
  /** The pause after each failure; after one more the event is given up. */
  waitsSeconds: readonly number[];
  /**
   * `unordered`: each event as soon as it is due. `holds young ones back`: an event waits while an earlier
   * one that is less than a minute old has not been tried yet, as with Polar.
   */
  order: "unordered" | "holds young ones back";
  concurrency: number;
  /** This many exhausted events in a row disable the endpoint; `null`: never. */
  disablesAfterExhausted: number | null;
};

export const MINUTE_SECONDS = 60;
export const HOUR_SECONDS = 3_600;

export const is2xx = (status: number) => status >= 200 && status < 300;
