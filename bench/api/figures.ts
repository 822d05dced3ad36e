import { compareWithGoals, type Figure, type Goal } from "../shared/figures.ts";
import type { Standing } from "./side-by-side.ts";

const GOALS: readonly Goal<Standing[]>[] = [
  {
    figure: "calls/s, compared with Hono, Better Auth and rate-limiter-flexible",
    unit: " x",
    digits: 2,
    atLeast: 6.5,
    value: (standings) => find(standings, "hono-better-auth")?.tollgateIs?.median,
  },
  {
    figure: "calls/s, compared with the same in a Next.js route handler",
    unit: " x",
    digits: 2,
    atLeast: 8,
    value: (standings) => find(standings, "next-route-handler")?.tollgateIs?.median,
  },
  {
    figure: "the gate: CPU per call above the bare handler's",
    unit: " us",
    digits: 1,
    atMost: 40,
    value: (standings) => find(standings, "bare-handler")?.tollgateCosts?.median,
  },
  {
    figure: "RPC: calls/s, compared with a bare tRPC server",
    unit: " x",
    digits: 2,
    atLeast: 0.9,
    value: (standings) => find(standings, "bare-trpc")?.tollgateIs?.median,
  },
  {
    figure: "GraphQL: calls/s, compared with a bare Yoga server",
    unit: " x",
    digits: 2,
    atLeast: 1.2,
    value: (standings) => find(standings, "bare-yoga")?.tollgateIs?.median,
  },
  {
    figure: "REST beside the pages: calls/s, compared with no page loaded",
    unit: " x",
    digits: 2,
    atLeast: 0.95,
    value: (standings) => find(standings, "without-pages")?.tollgateIs?.median,
  },
];

export function figures(standings: Standing[]): Figure[] {
  return compareWithGoals(GOALS, standings);
}

function find(standings: Standing[], name: Standing["name"]): Standing | undefined {
  return standings.find((standing) => standing.name === name);
}
