import { APICallError, InvalidResponseDataError, StreamProviderError } from "ai";
import { ProviderSilent } from "./answer.ts";

/**
 * Why the model did not answer, for the log. Nothing is quoted from the provider or the error: they may
 * contain conversations, addresses and keys.
 */
export function describeFailure(error: unknown): string {
  if (error instanceof ProviderSilent) return `the AI provider was ${error.message}`;
  if (APICallError.isInstance(error)) return describeCallFailure(error);
  if (InvalidResponseDataError.isInstance(error)) return "the AI provider broke off";
  if (StreamProviderError.isInstance(error)) return "the AI provider reported an error";
  const kind = error instanceof Error ? error.name : typeof error;
  return `the AI provider sent an invalid response (${kind})`;
}

function describeCallFailure({ statusCode, cause }: APICallError): string {
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

/** The code of the innermost error that has one, such as `ECONNREFUSED`. */
function codeOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const { code } = error as { code?: unknown };
  return codeOf(error.cause) ?? (typeof code === "string" ? code : null);
}
