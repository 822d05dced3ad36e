import { join } from "node:path";
import { ASKING, person, populate } from "../api/population.ts";
import type { ApiRequest } from "../api/reads.ts";
import { readyMadeRequests, writeRequests } from "../api/requests.ts";
import { sendAsFastAsAnswered } from "../shared/full-load.ts";
import { createMigratedDatabase } from "../shared/migrated-database.ts";
import type { Postgres } from "../shared/postgres.ts";
import { startServerProcess } from "../shared/server-process.ts";
import { median } from "../shared/statistics.ts";
import { type Turns, takeTurns } from "../shared/turns.ts";

const CONNECTIONS = 32;

const QUESTIONS = {
  subscriptions: { method: "GET", path: "/api/subscriptions" },
  entitlements: { method: "GET", path: "/api/entitlements" },
  check: { method: "POST", path: "/api/entitlements/check", body: JSON.stringify({ feature: "events" }) },
} as const satisfies Record<string, ApiRequest>;

/** Requests per second, the median of the rounds. */
export type RestRates = Record<keyof typeof QUESTIONS, number>;

/** One server answers the three in turn, asked by the same people in sessions. */
export async function overRest(postgres: Postgres, folder: string, turns: Turns): Promise<RestRates> {
  const databaseUrl = await createMigratedDatabase(postgres, "entitlements");
  await populate(databaseUrl);
  const variables = { DATABASE_URL: databaseUrl, RATE_LIMIT_API: "999999/60" };
  const server = await startServerProcess({ name: "tollgate", script: "src/server.ts", variables }, folder);
  try {
    // The server checks the origin of writes with a cookie; requests without an Origin header are served.
    const credentials = Array.from({ length: ASKING }, (_, n) => ({ cookie: person(n).sessionCookie }));
    const contenders = Object.entries(QUESTIONS).map(([name, question]) => {
      const file = join(folder, `${name}.requests`);
      const requestBytes = writeRequests(file, readyMadeRequests(question, credentials));
      const load = {
        port: server.port,
        connections: CONNECTIONS,
        file,
        requestBytes,
        mode: "again",
      } as const;
      return { name, round: (seconds: number) => sendAsFastAsAnswered({ ...load, seconds }) };
    });
    const rounds = await takeTurns(contenders, turns, ({ answered, seconds }) =>
      rateText(answered / seconds),
    );
    const rateOf = (name: string) =>
      median((rounds[name] ?? []).map((round) => round.answered / round.seconds));
    return {
      subscriptions: rateOf("subscriptions"),
      entitlements: rateOf("entitlements"),
      check: rateOf("check"),
    };
  } finally {
    await server.stop();
  }
}

function rateText(perSecond: number): string {
  return `${Math.round(perSecond).toLocaleString("en")}/s`;
}
