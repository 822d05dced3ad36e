import { GraphQLError } from "graphql";
import { Refusal } from "../../domain/refusal.ts";
import { shownError } from "./errors.ts";

/** GraphQL's own words quote what was sent, all of it and several times over. */
const LONGEST_MESSAGE = 500;

/**
 * An error of an answer as the client may see it. GraphQL's own, about the request, stay as they are but for their length.
 * @param note is given what was neither a refusal nor about the request, for the operator
 */
export function translated(error: GraphQLError, note: (defect: unknown) => void): GraphQLError {
  const cause = causeOf(error);
  if (cause === undefined) {
    error.extensions.code ??= "BAD_USER_INPUT";
    error.extensions.reason ??= "invalid_input";
    if (error.message.length > LONGEST_MESSAGE)
      error.message = `${error.message.slice(0, LONGEST_MESSAGE)}...`;
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

/** What was thrown behind GraphQL's own errors; `undefined`: nothing else was. */
function causeOf(error: GraphQLError): unknown {
  let { originalError } = error;
  while (originalError instanceof GraphQLError) originalError = originalError.originalError;
  return originalError;
}
