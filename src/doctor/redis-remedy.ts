import { errorText } from "../domain/error-text.ts";
import { isUntrusted, TRUST_AUTHORITY } from "../domain/untrusted-certificate.ts";

/** What an operator can do about an error of Redis, or of the connection to it. */
export function redisRemedy(error: unknown): string {
  if (isUntrusted(error))
    return `Renew Redis's certificate if it has expired, and connect by the name that it is for; if its authority is your own or your host's, ${TRUST_AUTHORITY}.`;
  const text = errorText(error);
  // Once Redis has answered, whether it runs is not the question.
  return (
    REMEDIES.find(([pattern]) => pattern.test(text))?.[1] ??
    "Check REDIS_URL, and that Redis runs and accepts connections from here: sign-in and billing need it."
  );
}

/** By Redis's error, which a script's error contains. */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [/\bOOM\b/, "Redis is full: free memory there, or raise its maxmemory. It counts nothing until then."],
  [
    /max number of clients reached/,
    "Raise maxclients in Redis, or close unused connections: CLIENT LIST shows them.",
  ],
  [/\bREADONLY\b/, "Set REDIS_URL to the primary: this is a replica, which takes no writes."],
  [/\bMISCONF\b/, "Redis takes no writes because it cannot save to its disk: see Redis's log."],
  [/\b(?:WRONGPASS|NOAUTH|AUTH)\b/, "Check the user and the password in REDIS_URL."],
  [
    /\bNOPERM\b|ACL failure|can't run this command/,
    "Let the account of REDIS_URL use the keys and commands that docs/how-to/run-several-servers.md names.",
  ],
  [
    /unknown (?:redis )?command/i,
    "Set REDIS_URL to a Redis server, not a Sentinel, that renames none of the limiter's commands.",
  ],
];
