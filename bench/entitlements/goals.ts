import type { Goal } from "../shared/figures.ts";
import type { RestRates } from "./over-rest.ts";

export type Results = {
  checksPerSecond: number | null;
  rest: RestRates | null;
  /** The longest of all upgrades and processes. */
  upgradeSeenMs: number | null;
};

const ratio = (name: "entitlements" | "check"): Goal<Results> => ({
  figure: `${name}, of the rate of GET /api/subscriptions`,
  unit: " x",
  digits: 2,
  atLeast: 0.9,
  value: ({ rest }) => rest && rest[name] / rest.subscriptions,
});

export const GOALS: readonly Goal<Results>[] = [
  {
    figure: "checks in one process",
    unit: "/s",
    digits: 0,
    atLeast: 1_000_000,
    value: ({ checksPerSecond }) => checksPerSecond,
  },
  ratio("entitlements"),
  ratio("check"),
  {
    figure: "a paid upgrade seen by every process",
    unit: " ms",
    digits: 1,
    atMost: 100,
    value: ({ upgradeSeenMs }) => upgradeSeenMs,
  },
];
