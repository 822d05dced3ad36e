/** What a payload's field should have been. */
const EXPECTATIONS = {
  object: "an object",
  list: "a list",
  text: "text",
  text_or_number: "text or a whole number",
  text_up_to_255: "at most 255 characters",
  text_without_nul: "text without NUL",
  unicode: "well-formed Unicode",
  boolean: "true or false",
  count: "a whole number from 0 to 1000000",
  amount: "an amount in the currency's smallest unit",
  currency: "an ISO 4217 code",
  known_value: "one of the provider's documented values",
  rfc3339: "an RFC 3339 time",
  rfc3339_to_9999: "an RFC 3339 time from 1970 to 9999",
  unix_seconds: "Unix seconds from 1970 to 9999",
  before_2255: "a time before June 2255",
} as const;

export type Expectation = keyof typeof EXPECTATIONS;

type FailureParams = {
  user_not_found: { userId: string };
  user_not_named: None;
  plan_unknown: { planId: string };
  price_unknown: { priceId: string; provider: string };
  plan_not_named: None;
  subscription_ambiguous: { count: number };
  /** `value`: the beginning of what was delivered. */
  payload_unreadable: { path: string; expected: Expectation; value: string; values?: string };
  payload_dropped: None;
  format_unknown: { format: string };
  database_refused: None;
  hook_failed: { plugin: string };
  defect: None;
  lease_expired: None;
  not_reported: None;
  redacted: None;
};

type None = Record<never, never>;

/** A stable identifier: see docs/reference/errors.md. */
export type FailureReason = keyof FailureParams;

/** Why an attempt to apply an event failed. */
export type Failure = {
  [R in FailureReason]: None extends FailureParams[R]
    ? { reason: R; params?: FailureParams[R] }
    : { reason: R; params: FailureParams[R] };
}[FailureReason];

/**
 * One English sentence per reason, stored as `last_error`. Never contains a database error or a stack trace,
 * which may quote other rows or code: those are only logged.
 */
const SENTENCES: { [R in FailureReason]: (params: FailureParams[R]) => string } = {
  user_not_found: ({ userId }) => `user: there is no user "${userId}"`,
  user_not_named: () =>
    "user: the event does not name one, and its subscription and customer do not tell who it is",
  plan_unknown: ({ planId }) => `plan: there is no plan "${planId}"`,
  price_unknown: ({ priceId, provider }) => `plan: no plan has the price "${priceId}" in ${provider}`,
  plan_not_named: () => "plan: the event names neither a plan nor a price",
  subscription_ambiguous: ({ count }) =>
    `subscription: the event does not name one, and the user has ${count}`,
  payload_unreadable: (params) => `payload: ${unreadableField(params)}`,
  payload_dropped: () => "payload: no longer stored",
  format_unknown: ({ format }) => `payload: no adapter for the format "${format}"`,
  database_refused: () => "database: the change was refused, see the log",
  hook_failed: ({ plugin }) => `plugin: the hook of "${plugin}" failed, see the log`,
  defect: () => "defect: applying the event failed, see the log",
  lease_expired: () => "lease expired",
  not_reported: () => "processing reported no outcome",
  redacted: () => "redacted: the person has deleted the account",
};

export const FAILURE_REASONS = Object.keys(SENTENCES) as [FailureReason, ...FailureReason[]];

export function failureSentence({ reason, params = {} }: Failure): string {
  return (SENTENCES[reason] as (params: unknown) => string)(params);
}

export function unreadableField({
  path,
  expected,
  value,
  values,
}: FailureParams["payload_unreadable"]): string {
  const expectation = values === undefined ? EXPECTATIONS[expected] : `one of ${values}`;
  return `${path}: expected ${expectation}, got ${value}`;
}
