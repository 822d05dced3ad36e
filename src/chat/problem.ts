import { APICallError, InvalidResponseDataError, StreamProviderError } from "ai";
import { Silence } from "./answer.ts";

/**
 * Why the model has not answered, in words for the operator's log. Nothing is taken from what the provider or the error
 * say: they quote conversations, addresses and keys.
 */
export function problemOf(error: unknown): string {
  if (error instanceof Silence) return `the AI provider was ${error.message}`;
  if (APICallError.isInstance(error)) return problemOfCall(error);
  if (InvalidResponseDataError.isInstance(error)) return "the AI provider broke off";
  if (StreamProviderError.isInstance(error)) return "the AI provider reported an error";
  const kind = error instanceof Error ? error.name : typeof error;
  return `the AI provider sent something that cannot be understood (${kind})`;
}

function problemOfCall({ statusCode, cause }: APICallError): string {
  switch (statusCode) {
    case undefined:
      return `the AI provider cannot be reached (${codeOf(cause) ?? "no reason given"}): check AI_BASE_URL`;
    case 200:
      return "the AI provider broke off";
    case 401:
    case 403:
      return `the AI provider answered ${statusCode}: check AI_API_KEY`;
    case 404:
      return "the AI provider answered 404: check AI_BASE_URL and AI_MODEL";
    default:
      return `the AI provider answered ${statusCode}`;
  }
}

/** Of the innermost of the errors that have a code, such as `ECONNREFUSED`. */
function codeOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const { code } = error as { code?: unknown };
  return codeOf(error.cause) ?? (typeof code === "string" ? code : null);
}
