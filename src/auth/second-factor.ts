import type { drizzleAdapter } from "better-auth/adapters/drizzle";
import { APIError } from "better-auth/api";
import type { Database } from "../store/database.ts";
import { changeTwoFactor } from "../store/sign-in/two-factor-changes.ts";
import type { RequestScope, RequestScopes } from "./request-scope.ts";
import { sessionEnded } from "./session-ended.ts";

type CreateAdapter = ReturnType<typeof drizzleAdapter>;

/** The set-up that a request has read was confirmed or removed before it could be replaced. */
export class SetUpChanged extends Error {
  override name = "SetUpChanged";
}

/**
 * Better Auth reads a set-up, and later replaces or confirms whatever there is by then. Here only the set-up whose code was
 * right is confirmed, and none is replaced or removed that has been confirmed meanwhile: it is the one that the owner's app has.
 */
export function withCheckedSetUp(create: CreateAdapter, scopes: RequestScopes): CreateAdapter {
  return (options) => {
    const adapter = create(options);
    const { findOne, update, delete: remove } = adapter;
    adapter.findOne = async <Row>(query: Parameters<typeof findOne>[0]) => {
      const row = await findOne<Row>(query);
      const scope = scopes.getStore();
      if (query.model === "twoFactor" && scope)
        scope.checkedSecret = (row as { secret?: string } | null)?.secret ?? null;
      return row;
    };
    adapter.update = async <Row>(change: Parameters<typeof update>[0]) => {
      if (change.model !== "twoFactor" || change.update.secret === undefined) return update<Row>(change);
      const where = [...change.where, { field: "verified", value: false }];
      const row = await update<Row>({ ...change, where });
      if (row !== null) return row;
      const changed = new SetUpChanged("the set-up of a second factor was changed meanwhile");
      const scope = scopes.getStore();
      if (scope) scope.failure = changed;
      throw changed;
    };
    adapter.delete = async (selection: Parameters<typeof remove>[0]) => {
      const unconfirmed = selection.model === "twoFactor" ? [{ field: "verified", value: false }] : [];
      await remove({ ...selection, where: [...selection.where, ...unconfirmed] });
    };
    return adapter;
  };
}

/** Turns the second factor of the session's user on or off. @throws APIError */
export async function changeSecondFactor(
  database: Database,
  scope: RequestScope | undefined,
  { enabled, session }: { enabled: boolean; session: { id: string; userId: string } },
): Promise<void> {
  if (!scope) return;
  const by = { sessionId: session.id, address: scope.address };
  const change = enabled ? { enabled, secret: scope.checkedSecret, by } : { enabled, by };
  const outcome = await changeTwoFactor(database, session.userId, change);
  if (outcome === "ended") throw sessionEnded();
  if (outcome === "replaced")
    throw new APIError("UNAUTHORIZED", { message: "Invalid code", code: "INVALID_CODE" });
  if (outcome !== "unchanged") scope.notice = outcome;
}
