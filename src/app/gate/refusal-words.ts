import type { RefusalCode } from "../../domain/refusal.ts";

/** A key of the messages in `refusals`, with what is put into them. */
export type RefusalWords = {
  key: (typeof BY_CODE)[RefusalCode] | `known.${(typeof SENTENCES)[RefusalCode][number][1]}`;
  values: Record<string, string | number>;
};

/** In which words a person is told of a refusal: its sentence is for programs, and English. */
export function refusalWords(code: RefusalCode, sentence: string): RefusalWords {
  for (const [pattern, known] of SENTENCES[code]) {
    const found = pattern.exec(sentence);
    if (found) return { key: `known.${known}`, values: valuesOf(found) };
  }
  return { key: BY_CODE[code], values: {} };
}

const BY_CODE = {
  unauthorized: "unauthorized",
  forbidden: "forbidden",
  rate_limited: "rateLimited",
  invalid_input: "invalidInput",
  too_large: "tooLarge",
  not_found: "notFound",
  conflict: "conflict",
  unavailable: "unavailable",
} as const satisfies Record<RefusalCode, string>;

/** The sentences that a person's doing can lead to: of the operations, of accounts, and of the rules for input. */
const SENTENCES = {
  unauthorized: [[/^Invalid email or password$/, "wrongPassword"]],
  forbidden: [
    [/^Email not verified$/, "addressUnconfirmed"],
    [/^This account is suspended$/, "suspended"],
    [/^The payment provider knows your e-mail address already/, "addressKnownToProvider"],
  ],
  rate_limited: [],
  too_large: [],
  invalid_input: [
    [/^This link is not valid/, "badLink"],
    [/^token: /, "badLink"],
    [/^This account has no password yet/, "noPassword"],
    [/^currentPassword: is not right$/, "wrongCurrentPassword"],
    [/^confirmation: expected the e-mail address of this account$/, "notThisAddress"],
    [/^planId: there is no plan /, "noSuchPlan"],
    [/^planId: (?<plan>.+) is not sold$/, "planNotSold"],
    [/^provider: (?<plan>.+) is not sold by (?<provider>\S+)$/, "planNotSoldBy"],
    [/^seats: (?<plan>.+) has (?<min>\d+) to (?<max>\d+)$/, "seatsOfPlan"],
    [/^expiresAt: expected a time that is still to come$/, "pastTime"],
    [/: expected an e-mail address$/, "badAddress"],
    [/: expected (?<min>\d+) to (?<max>\d+) characters$/, "lengthBetween"],
    [/: expected at least (?<min>\d+) characters?$/, "tooShort"],
    [/: expected at most (?<max>\d+) characters?$/, "tooLong"],
    [/: expected at least (?<min>\d+)$/, "tooFew"],
    [/: expected at most (?<max>\d+)$/, "tooMany"],
    [/: expected a (whole )?number$/, "notANumber"],
    [/: expected text without /, "unreadable"],
    [/: (is missing|expected text)$/, "missing"],
  ],
  not_found: [
    [/^there is no such user$/, "noUser"],
    [/^there is no such subscription$/, "noSubscription"],
    [/^there is no such API key$/, "noApiKey"],
    [/^there is no such notification$/, "noNotification"],
    [/^there is no delivery /, "noDelivery"],
  ],
  conflict: [
    [/^There is an account with this address already$/, "addressTaken"],
    [/^There is a subscription already: /, "subscribedAlready"],
    [/^There is no subscription to manage yet: /, "nothingToManage"],
    [/^the last administrator cannot be demoted: /, "lastAdminDemoted"],
    [/^the last administrator cannot be deleted: /, "lastAdminDeleted"],
    [/^there are too many API keys: /, "tooManyKeys"],
    [/^delivery \S+ was taken over by another attempt/, "takenOver"],
    [/^delivery \S+ is being processed: /, "beingProcessed"],
    [/^force: delivery \S+ was successful already/, "successfulAlready"],
    [/^nothing was changed: (?<reason>.+)$/s, "nothingChanged"],
  ],
  unavailable: [
    [/^no payment provider is configured/, "noProvider"],
    [/^A checkout is being opened\./, "checkoutOpening"],
    [/^The payment provider cannot be reached\./, "providerAway"],
    [/^The payment provider does not accept this\./, "providerRefused"],
    [/^what came of the replay of delivery \S+ is not known: /, "replayUnknown"],
    [/^the subscription could not be cancelled at the payment provider: /, "notCancelled"],
  ],
} as const satisfies Record<RefusalCode, readonly (readonly [pattern: RegExp, known: string])[]>;

function valuesOf({ groups = {} }: RegExpExecArray): Record<string, string | number> {
  const values = Object.entries(groups).map(([name, text]) => [
    name,
    NUMBERS.has(name) ? Number(text) : text,
  ]);
  return Object.fromEntries(values);
}

const NUMBERS = new Set(["min", "max"]);
