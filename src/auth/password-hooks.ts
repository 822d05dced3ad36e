import { lockPassword, revokeWithNewPassword } from "../store/sign-in/revocations.ts";
import type { RequestScope, RequestScopes } from "./request-scope.ts";

/**
 * Better Auth's hooks around a new password. They run in its transaction: the password is set together with
 * the end of what the old one could do, or not at all.
 */
export function passwordHooks(scopes: RequestScopes) {
  const lock = (userId: string) => lockOnce(scopes.getStore(), userId);
  const revoke = () => revokeOfUser(scopes.getStore());
  // Called once the transaction is committed.
  const committed = async () => {
    const scope = scopes.getStore();
    if (scope?.newPassword) scope.notice = scope.newPassword.notice;
  };
  return {
    // What comes first, of a reset and of a change.
    verification: { delete: { before: ({ value }: { value: string }) => lock(value) } },
    session: { delete: { before: ({ userId }: { userId: string }) => lock(userId) } },
    // `create`: the first password of somebody whom another system has created.
    account: {
      update: { before: revoke, after: committed },
      create: { before: revoke, after: committed },
    },
  };
}

async function lockOnce(scope: RequestScope | undefined, userId: string): Promise<void> {
  // Better Auth also deletes an expired session, before it begins a transaction.
  if (!scope?.newPassword || scope.newPassword.userId !== null || scope.transaction === null) return;
  await lockPassword(scope.transaction, userId);
  scope.newPassword.userId = userId;
}

async function revokeOfUser(scope: RequestScope | undefined): Promise<void> {
  if (!scope?.newPassword) return;
  const { newPassword, address, transaction } = scope;
  const { action, revokesKeys, userId } = newPassword;
  // Its session has ended meanwhile: Better Auth is about to find that out, and changes nothing.
  if (userId === null) return;
  if (transaction === null) throw new Error("a new password is set outside of a transaction");
  newPassword.notice = await revokeWithNewPassword(transaction, { userId, address, action, revokesKeys });
}
