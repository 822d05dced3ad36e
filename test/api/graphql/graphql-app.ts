import plans from "../../../plans.config.ts";
import { graphql } from "../../../src/api/graphql/graphql.ts";
import { newApiKey } from "../../../src/auth/callers/api-key.ts";
import type { Log } from "../../../src/observability/log.ts";
import type { Dependencies } from "../../../src/operations/dependencies.ts";
import type { Database } from "../../../src/store/database.ts";
import { testApp, testCallers, testLimits } from "../../support/guarded-app.ts";
import { listen } from "../../support/http.ts";

export type LoggedLine = { fields: Record<string, unknown>; message: string };

/**
 * The endpoint alone, over a database that a test may observe. `x-test-user` names the caller, `x-test-role`
 * their role.
 */
export async function graphqlApp(
  database: Pick<Database, "run">,
  { enabled = true, introspection = true, limits = testLimits() } = {},
): Promise<{ url: string; noted: LoggedLine[]; close(): Promise<void> }> {
  const noted: LoggedLine[] = [];
  const note = (fields: LoggedLine["fields"], message: string) => void noted.push({ fields, message });
  const deps = { database, plans, newApiKey, limits, observe: null, chat: null } as unknown as Dependencies;
  const callers: typeof testCallers = {
    ...testCallers,
    auth: {
      ...testCallers.auth,
      identify: async (credentials) => {
        const { caller, setCookies } = await testCallers.auth.identify(credentials);
        const isAdmin = credentials.header("x-test-role") === "admin";
        return { caller: isAdmin ? Object.assign(caller, { role: "admin" }) : caller, setCookies };
      },
    },
  };
  const log = { error: note } as unknown as Log;
  const app = testApp("/api/graphql", graphql(deps, callers, { enabled, introspection, log }));
  return { noted, ...(await listen(app)) };
}
