import { type ExecutionResult, type GraphQLError, getOperationAST } from "graphql";
import { createYoga, type GraphQLParams, type Plugin, processRegularResult } from "graphql-yoga";
import { exceeded } from "./bounds.ts";
import type { GraphqlContext } from "./builder.ts";
import { documentReader } from "./documents.ts";
import { schema } from "./schema.ts";
import { translateError } from "./translate.ts";

/** An authenticated, parsed and charged request. */
export type YogaContext = GraphqlContext & {
  method: "GET" | "POST";
  /** The media type of the response. */
  accept: string;
  params: GraphQLParams;
  /** Logs what is neither a refusal nor about the request. */
  logFailure: (defect: unknown) => void;
};

/** GraphQL over HTTP, from parsing the document to the response. */
export function createServer(options: {
  introspection: boolean;
}): (context: YogaContext) => Promise<Response> {
  const yoga = createYoga<YogaContext>({
    schema,
    graphqlEndpoint: "/",
    plugins: [documents(options), translateErrors(options)],
    // Method, origin and body were checked before, and errors are translated below.
    cors: false,
    graphiql: false,
    landingPage: false,
    multipart: false,
    maskedErrors: false,
    logging: false,
    parserAndValidationCache: false,
  });
  // Skips yoga's HTTP layer, which would parse the request again and costs a quarter of a call.
  return async (context) => {
    // The only part that is read: GET must not mutate.
    const request = { method: context.method } as Request;
    const result = await yoga.getResultForParams({ params: context.params, request }, context);
    return processRegularResult(result as ExecutionResult, yoga.fetchAPI, context.accept);
  };
}

type YogaPlugin = Plugin<object, YogaContext>;

function documents(options: { introspection: boolean }): YogaPlugin {
  const reader = documentReader(schema, options);
  return {
    onParse: ({ setParseFn }) => setParseFn(reader.parse),
    onValidate: ({ setValidationFn }) => setValidationFn((_, document) => reader.validate(document)),
    onExecute: ({ args, setResultAndStopExecution }) => {
      const { document, operationName, variableValues } = args;
      const operation = getOperationAST(document, operationName);
      // Without an operation, the executor reports the error.
      if (!operation) return;
      const error = exceeded(schema, { document, operation, variables: variableValues ?? {} });
      if (error) setResultAndStopExecution({ errors: [error] });
    },
  };
}

/** Translates every error, wherever it was thrown. */
function translateErrors({ introspection }: { introspection: boolean }): YogaPlugin {
  return {
    onExecutionResult: ({ result, setResult, context }) => {
      const { data, errors } = result as ExecutionResult;
      if (!errors) return;
      const translatedErrors = errors.map((error) => translateError(error, context.logFailure));
      if (!introspection) translatedErrors.forEach(withoutSuggestion);
      setResult(
        data === undefined
          ? { errors: translatedErrors.map(withStatus) }
          : { data, errors: translatedErrors },
      );
    },
  };
}

/** GraphQL's suggestions ("Did you mean") would reveal the whole schema to enough guesses. */
function withoutSuggestion(error: GraphQLError): void {
  error.message = error.message.replace(/ Did you mean .*/s, "");
}

/**
 * By the specification a request that was not run has an error status; an invalid one only if the client did
 * not ask for plain JSON.
 */
function withStatus(error: GraphQLError): GraphQLError {
  const isDefect = error.extensions.code === "INTERNAL_SERVER_ERROR";
  error.extensions.http ??= isDefect ? { status: 500 } : { spec: true, status: 400 };
  return error;
}
