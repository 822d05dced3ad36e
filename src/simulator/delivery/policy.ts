/** How a provider delivers its events. */
export type DeliveryPolicy = {
  /** Which responses it takes for a receipt. */
  accepts(status: number): boolean;
  answerWithinMs: number;
  /** How long it waits after each failure; after one more it gives up. */
  waitsSeconds: readonly number[];
  /**
   * `unordered`: each event as soon as it is due. `holds young ones back`: an event waits while an earlier one that
   * is less than a minute old has not been tried yet, as with Polar.
   */
  order: "unordered" | "holds young ones back";
  concurrency: number;
  /** So many exhausted events in a row disable the endpoint; `null`: never. */
  disablesAfterExhausted: number | null;
};

export const MINUTE_SECONDS = 60;
export const HOUR_SECONDS = 3_600;

export const is2xx = (status: number) => status >= 200 && status < 300;
