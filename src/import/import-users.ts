import { randomUUID } from "node:crypto";
import type { Intake } from "../intake/intake.ts";
import { effectLimits } from "../intake/transaction-limits.ts";
import { sqlState } from "../store/database.ts";
import { UNIQUE_VIOLATION } from "../store/driver/sql-states.ts";
import {
  findUsersToImport,
  type ImportedUser,
  insertImportedUsers,
  type KnownUser,
  muteUserEvents,
  revokeLinks,
  updateImportedUsers,
} from "../store/reconciliation/imported-users.ts";
import { advanceImport } from "../store/reconciliation/imports.ts";
import { retryOnContention } from "../store/retry-on-contention.ts";
import { inTransaction } from "../store/transaction.ts";
import { findUserStates, type UserState } from "../store/users/user-states.ts";
import { auditImport } from "./audit-import.ts";
import { decideUser } from "./decide-user.ts";
import { type ImportOptions, type ImportReport, runImport, type Source } from "./run-import.ts";
import { splitUpdates, type UserUpdate } from "./split-updates.ts";
import { readUserRow, type SourceUser, type UserRow } from "./user-row.ts";

type ImportTools = Pick<Intake, "database" | "leaseSeconds">;

/**
 * Imports users, without passwords: they set one by the reset link. Rows that are invalid, or that name
 * somebody else's id or address, are left out.
 * @throws DatabaseUnavailable
 */
export function importUsers(
  intake: ImportTools,
  source: Source<SourceUser>,
  options: ImportOptions,
): Promise<ImportReport> {
  return runImport(intake.database, source, options, (page, run) =>
    // A user who signs up meanwhile: decided again.
    retryOnConflict(() =>
      inTransaction(intake.database, effectLimits(intake), async (transaction) => {
        const rows = page.rows.map(readUserRow);
        const decide = async () => {
          const [existing, states] = await Promise.all([
            findUsersToImport(transaction, keysOf(rows)),
            findUserStates(transaction, keysOf(rows).ids),
          ]);
          return decideAll(rows, existing, states);
        };
        const firstDecision = await decide();
        if (run === null) return firstDecision.report;
        await run.fence(transaction);
        const readdressed = firstDecision.updated.filter(
          ({ user, emailBefore }) => user.email !== emailBefore,
        );
        if (readdressed.length > 0)
          await revokeLinks(
            transaction,
            readdressed.map(({ user }) => user.id),
          );
        // Whoever has set a password by such a link meanwhile keeps the address.
        const { created, updated, report } = readdressed.length > 0 ? await decide() : firstDecision;
        const { importId } = run;
        await transaction.commitAfter([
          ...(options.notify ? [] : [muteUserEvents(transaction)]),
          // First, so that an address that is given up can be taken over.
          ...splitUpdates(updated).map((users) => updateImportedUsers(transaction, users)),
          insertImportedUsers(transaction, created),
          advanceImport(transaction, importId, { ...report, position: page.next }),
          ...auditImport(transaction, "users.imported", { importId, report, notify: options.notify }),
        ]);
        return report;
      }),
    ),
  );
}

type Row = ReturnType<typeof readUserRow>;

function keysOf(rows: readonly Row[]) {
  const valid = rows.flatMap((row) => ("user" in row ? [row.user] : []));
  return {
    ids: valid.flatMap(({ id }) => id ?? []),
    externalIds: valid.flatMap(({ externalId }) => externalId ?? []),
    emails: valid.map(({ email }) => email),
  };
}

function decideAll(
  rows: readonly Row[],
  existing: readonly KnownUser[],
  states: ReadonlyMap<string, UserState>,
): { created: ImportedUser[]; updated: UserUpdate[]; report: ImportReport } {
  const users = new Map(existing.map((user) => [user.id, user]));
  const created = new Map<string, ImportedUser>();
  const updated: UserUpdate[] = [];
  const report: ImportReport = { created: 0, updated: 0, skipped: 0, unmatched: [] };
  for (const row of rows) {
    if (!("user" in row)) {
      report.unmatched.push(row.unmatched);
      continue;
    }
    const decision = decideUser(row.user, [...users.values()], states);
    switch (decision.outcome) {
      case "left out":
        report.unmatched.push({ ...row.place, ...idsOf(row.user), reason: decision.reason });
        break;
      case "same":
        report.skipped += 1;
        break;
      case "created": {
        const user = { ...decision.user, id: decision.user.id ?? randomUUID() };
        users.set(user.id, { ...user, role: "user", isEmailConfirmed: false, hasPassword: false });
        created.set(user.id, user);
        report.created += 1;
        break;
      }
      case "updated": {
        const { user } = decision;
        const emailBefore = users.get(user.id)?.email ?? user.email;
        users.set(user.id, user);
        // Of two rows about a new user the later one counts.
        if (created.has(user.id)) created.set(user.id, user);
        else updated.push({ user, emailBefore });
        report.updated += 1;
        break;
      }
      default:
        decision satisfies never;
    }
  }
  return { created: [...created.values()], updated, report };
}

function idsOf({ id, externalId, email }: UserRow) {
  return { id, externalId, email };
}

async function retryOnConflict<Result>(run: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await retryOnContention(run);
    } catch (error) {
      if (sqlState(error) !== UNIQUE_VIOLATION || tries === MAX_TRIES) throw error;
    }
  }
}

const MAX_TRIES = 3;
