import type pg from "pg";

/**
 * Overrule the settings of the role and the database. Poolers keep these two per client. Written as PostgreSQL
 * reports them: PgBouncer compares, and would set another spelling again before every transaction.
 */
export const START_UP_PARAMETERS = { DateStyle: "ISO, MDY", standard_conforming_strings: "on" };

const DIRECT_SETTINGS: Record<string, { value: string; isSuitable: RegExp }> = {
  default_transaction_isolation: { value: "read committed", isSuitable: /^read (un)?committed$/ },
  // Otherwise NULL in an array is a text of four letters.
  array_nulls: { value: "on", isSuitable: /^on$/ },
  // Otherwise numbers lose digits.
  extra_float_digits: { value: "1", isSuitable: /^\d/ },
};

/** What our statements are written for, and a role or a database may set differently. */
export const REQUIRED_SETTINGS: typeof DIRECT_SETTINGS = {
  DateStyle: { value: START_UP_PARAMETERS.DateStyle, isSuitable: /^ISO/ },
  standard_conforming_strings: { value: "on", isSuitable: /^on$/ },
  ...DIRECT_SETTINGS,
};

/** Ends whole transactions, without regard to the limits that are set for each. PostgreSQL has it from 17 on. */
export function unlimitedTransactions({ isLocal }: { isLocal: boolean }): string {
  return `case when current_setting('transaction_timeout', true) <> '0' then set_config('transaction_timeout', '0', ${isLocal}) end`;
}

/**
 * For a new connection, before its first statement. Those of a pooler are left alone: others use them too, and
 * not all would be set.
 */
export function settingsStatement(client: pg.ClientBase): string {
  const { processID } = client as unknown as { processID: number | null };
  const settings = Object.entries(DIRECT_SETTINGS).map(
    ([name, { value }]) => `set_config('${name}', '${value}', false)`,
  );
  return `select ${settings.join(", ")},
    -- Single statements have the statement's timeout, after which callers may try again.
    set_config('lock_timeout', '0', false), ${unlimitedTransactions({ isLocal: false })},
    -- A canceled wait for a standby is a warning: see burst-client.ts.
    set_config('client_min_messages', 'warning', false),
    -- Writes outside a transaction are acknowledged, too.
    set_config('synchronous_commit', replace(current_setting('synchronous_commit'), 'off', 'on'), false)
  where pg_backend_pid() = ${processID ?? 0}`;
}
