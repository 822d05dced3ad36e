import { GraphQLError } from "graphql";
import { Refusal } from "../../domain/refusal.ts";
import { shownError } from "./errors.ts";

/** GraphQL's messages quote the request in full, several times over. */
const MAX_MESSAGE_CHARACTERS = 500;

/**
 * An error as the client may see it. GraphQL's own errors about the request stay, shortened.
 * @param note logs what is neither a refusal nor about the request
 */
export function translated(error: GraphQLError, note: (defect: unknown) => void): GraphQLError {
  const cause = causeOf(error);
  if (cause === undefined) {
    error.extensions.code ??= "BAD_USER_INPUT";
    error.extensions.reason ??= "invalid_input";
    if (error.message.length > MAX_MESSAGE_CHARACTERS)
      error.message = `${error.message.slice(0, MAX_MESSAGE_CHARACTERS)}...`;
    return error;
  }
  if (!(cause instanceof Refusal)) note(cause);
  const { message, extensions } = shownError(cause);
  return new GraphQLError(message, {
    nodes: error.nodes ?? null,
    path: error.path ?? null,
    extensions,
  });
}

/** The error that GraphQL wrapped; `undefined`: none. */
function causeOf(error: GraphQLError): unknown {
  let { originalError } = error;
  while (originalError instanceof GraphQLError) originalError = originalError.originalError;
  return originalError;
}
