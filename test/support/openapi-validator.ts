import { z } from "zod";

type Json = Record<string, unknown>;

/** One operation of an OpenAPI document, with what is needed to compare responses with it. */
export type Documented = {
  operationId: string;
  method: string;
  /** Below the version's prefix, with `{names}`. */
  path: string;
  statuses: number[];
  /** Of the response with this status. */
  description(status: number): string;
  /** How a response differs from the document; `null`: not at all. */
  fault(response: {
    status: number;
    contentType: string | null;
    headers: Headers;
    text: string;
  }): string | null;
  /** The same for a request body. */
  bodyFault(body: unknown): string | null;
  parameters: { name: string; in: string; schema: Json }[];
  /** Names in the body and the query string that an error may refer to. */
  inputFields: string[];
  /** Whether a service key may call it for a user. */
  namesUser: boolean;
};

type Document = { paths: Record<string, Json>; components: { schemas: Json } };

/** Every operation of an OpenAPI document. */
export function operationsOf(document: Document): Documented[] {
  const resolved = (node: Json): Json =>
    typeof node.$ref === "string"
      ? (node.$ref
          .slice("#/".length)
          .split("/")
          .reduce<unknown>((at, name) => (at as Json)[name], document) as Json)
      : node;
  const schemas = relinked(document.components.schemas) as Record<string, Json>;
  const validator = (schema: Json) => z.fromJSONSchema({ ...(relinked(schema) as Json), $defs: schemas });
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => {
      const {
        operationId,
        responses,
        parameters = [],
        requestBody,
      } = described as {
        operationId: string;
        responses: Record<string, Json>;
        parameters: Documented["parameters"];
        requestBody?: { content: Record<string, { schema: Json }> };
      };
      return {
        operationId,
        method: method.toUpperCase(),
        path,
        parameters,
        statuses: Object.keys(responses).map(Number),
        description: (status) => String(resolved(responses[status] ?? {}).description),
        namesUser:
          parameters.some(({ name }) => name === "user") ||
          JSON.stringify(requestBody ?? {}).includes('"externalId"'),
        inputFields: [
          ...parameters.map(({ name }) => name),
          ...Object.keys(
            (resolved(requestBody?.content["application/json"]?.schema ?? {}).properties as Json) ?? {},
          ),
        ],
        bodyFault: (body) => {
          const schema = requestBody?.content["application/json"]?.schema;
          if (!schema) return body === undefined ? null : "no body is documented";
          return problemWith(validator(schema), body);
        },
        fault: ({ status, contentType, headers, text }) => {
          if (!responses[status]) return `${status} is not documented`;
          const response = resolved(responses[status]) as {
            headers?: Record<string, Json>;
            content?: Record<string, { schema: Json }>;
          };
          const [type = ""] = (contentType ?? "").split(";");
          const schema = response.content?.[type]?.schema;
          if (!response.content && (type === "" || text === "")) return null;
          if (!schema) return `${status}: ${contentType} is not documented`;
          for (const [name, header] of Object.entries(response.headers ?? {})) {
            const value = headers.get(name);
            if (value === null && isOptional(name, status)) continue;
            if (value === null) return `${status}: the header ${name} is missing`;
            const kind = resolved(header).schema as Json;
            const problem = problemWith(validator(kind), kind.type === "integer" ? Number(value) : value);
            if (problem) return `${status}: the header ${name}: ${problem}`;
          }
          if (type !== "application/json") return null;
          const problem = problemWith(validator(schema), JSON.parse(text));
          return problem && `${status}: ${problem} in ${text}`;
        },
      };
    }),
  );
}

/**
 * Headers of versions with a successor or an end, and limits of a request that was refused before it was
 * counted.
 */
function isOptional(name: string, status: number): boolean {
  if (["Deprecation", "Sunset", "Link"].includes(name)) return true;
  return /^(X-)?RateLimit/.test(name) && status >= 400 && status !== 429;
}

function problemWith(schema: z.ZodType, value: unknown): string | null {
  const parsed = schema.safeParse(value);
  return parsed.success ? null : z.prettifyError(parsed.error);
}

function relinked(schema: unknown): unknown {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/components/schemas/', '"#/$defs/'));
}
