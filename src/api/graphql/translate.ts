import { GraphQLError } from "graphql";
import { Refusal } from "../../domain/refusals/refusal.ts";
import { shownError } from "../graphql-error.ts";

/** GraphQL's messages quote the request in full, several times over. */
const MAX_MESSAGE_CHARACTERS = 500;

/**
 * An error as the client may see it. GraphQL's own errors about the request stay, shortened.
 * @param logFailure logs what is neither a refusal nor about the request
 */
export function translateError(error: GraphQLError, logFailure: (defect: unknown) => void): GraphQLError {
  const cause = causeOf(error);
  if (cause === undefined) {
    if (isMethodRefused(error)) Object.assign(error.extensions, METHOD_NOT_ALLOWED);
    error.extensions.code ??= "BAD_USER_INPUT";
    error.extensions.reason ??= "invalid_input";
    error.extensions.params ??= { problem: "invalid" };
    if (error.message.length > MAX_MESSAGE_CHARACTERS)
      error.message = `${error.message.slice(0, MAX_MESSAGE_CHARACTERS).toWellFormed()}...`;
    return error;
  }
  if (!(cause instanceof Refusal)) logFailure(cause);
  const { message, extensions } = shownError(cause);
  return new GraphQLError(message, {
    nodes: error.nodes ?? null,
    path: error.path ?? null,
    extensions,
  });
}

const METHOD_NOT_ALLOWED = shownError(new Refusal({ reason: "method_not_allowed" })).extensions;

/** A mutation by GET, for which yoga has no code of its own. */
function isMethodRefused({ extensions }: GraphQLError): boolean {
  return (extensions.http as { status?: number } | undefined)?.status === 405;
}

/** The error that GraphQL wrapped; `undefined`: none. */
function causeOf(error: GraphQLError): unknown {
  let { originalError } = error;
  while (originalError instanceof GraphQLError) originalError = originalError.originalError;
  return originalError;
}
