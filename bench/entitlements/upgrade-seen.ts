import { person, populate } from "../api/population.ts";
import { BrokenMeasurement } from "../shared/broken.ts";
import { createMigratedDatabase } from "../shared/migrated-database.ts";
import { type Postgres, query } from "../shared/postgres.ts";
import { type ServerProcess, startServerProcess } from "../shared/server-process.ts";

const PROCESSES = 3;
const UPGRADES = 20;

/**
 * The longest time from the commit of an upgrade to the answer that shows it, of all upgrades and processes.
 */
export async function upgradeSeenMs(postgres: Postgres, folder: string): Promise<number> {
  const databaseUrl = await createMigratedDatabase(postgres, "upgrade");
  await populate(databaseUrl);
  const variables = { DATABASE_URL: databaseUrl, RATE_LIMIT_API: "999999/60" };
  const servers: ServerProcess[] = [];
  try {
    for (let n = 0; n < PROCESSES; n += 1) {
      const program = { name: `tollgate-${n}`, script: "src/server.ts", variables };
      servers.push(await startServerProcess(program, folder));
    }
    let longest = 0;
    for (let number = 0; number < UPGRADES; number += 1) {
      const { userId } = person(number);
      const plans = () => Promise.all(servers.map((server) => planOf(server, number)));
      // Every process has answered before: what it might remember is old.
      expectAll(await plans(), "pro");
      await query(databaseUrl, "update subscription set plan_id = 'team' where user_id = $1", [userId]);
      const committedAt = performance.now();
      const delaysMs = servers.map(async (server) => {
        while ((await planOf(server, number)) !== "team") {
          if (performance.now() - committedAt > 5_000) throw new BrokenMeasurement("not seen within 5 s");
        }
        return performance.now() - committedAt;
      });
      longest = Math.max(longest, ...(await Promise.all(delaysMs)));
    }
    return longest;
  } finally {
    for (const server of servers) await server.stop();
  }
}

async function planOf({ port }: ServerProcess, number: number): Promise<string> {
  const headers = { cookie: person(number).sessionCookie };
  const answer = await fetch(`http://127.0.0.1:${port}/api/entitlements`, { headers });
  if (answer.status !== 200) throw new BrokenMeasurement(`answered ${answer.status}`);
  return ((await answer.json()) as { planId: string }).planId;
}

function expectAll(plans: readonly string[], expected: string): void {
  if (plans.some((plan) => plan !== expected)) {
    throw new BrokenMeasurement(`expected ${expected}, got ${plans.join(", ")}`);
  }
}
