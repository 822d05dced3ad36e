import {
  type ASTVisitor,
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  NoFragmentCyclesRule,
  NoSchemaIntrospectionCustomRule,
  parse,
  specifiedRules,
  UniqueFragmentNamesRule,
  type ValidationContext,
  type ValidationRule,
  validate,
} from "graphql";
import { MAX_TOKENS } from "./bounds.ts";

/** Documents that clients repeat are short; one made of names and braces alone takes 350 KB of memory. */
const MAX_CACHED_CHARACTERS = 2_000;
const MAX_CACHED_DOCUMENTS = 100;
const MAX_ERRORS = 5;

type Documents = {
  /** @throws GraphQLError */
  parse(text: string): DocumentNode;
  /** @param document from `parse` */
  validate(document: DocumentNode): readonly GraphQLError[];
};

/** Parses documents, and caches those that were valid. */
export function documentReader(
  schema: GraphQLSchema,
  { introspection }: { introspection: boolean },
): Documents {
  const rules = [...specifiedRules, noNul, ...(introspection ? [] : [NoSchemaIntrospectionCustomRule])];
  const valid = new Map<string, DocumentNode>();
  return {
    parse: (text) => {
      const document = valid.get(text);
      if (document === undefined) return parse(text, { maxTokens: MAX_TOKENS });
      // Re-inserted at the end: the first entry is the least recently used.
      valid.delete(text);
      valid.set(text, document);
      return document;
    },
    validate: (document) => {
      const text = document.loc?.source.body ?? "";
      if (valid.get(text) === document) return [];
      const validateBy = (chosen: readonly ValidationRule[]) =>
        validate(schema, document, chosen, { maxErrors: MAX_ERRORS });
      // Cycles first, alone: the rule on overlapping fields recurses through them until the stack overflows. They are found
      // by name, so each name may be there only once.
      const cycles = validateBy([UniqueFragmentNamesRule, NoFragmentCyclesRule]);
      const errors = cycles.length > 0 ? cycles : validateBy(rules);
      if (errors.length === 0 && text.length <= MAX_CACHED_CHARACTERS) cache(valid, text, document);
      return errors;
    },
  };
}

function cache(valid: Map<string, DocumentNode>, text: string, document: DocumentNode): void {
  valid.set(text, document);
  if (valid.size <= MAX_CACHED_DOCUMENTS) return;
  const [oldest] = valid.keys();
  if (oldest !== undefined) valid.delete(oldest);
}

/** PostgreSQL cannot store NUL. Variables were checked when the body was parsed. */
function noNul(context: ValidationContext): ASTVisitor {
  return {
    StringValue(node) {
      if (!node.value.includes("\0")) return;
      context.reportError(new GraphQLError("expected text without NUL characters", { nodes: node }));
    },
  };
}
