import {
  type DocumentNode,
  type FieldNode,
  type GraphQLCompositeType,
  GraphQLError,
  type GraphQLField,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isCompositeType,
  isInterfaceType,
  isIntrospectionType,
  isListType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TypeMetaFieldDef,
} from "graphql";

/** Size of a document that can be parsed within milliseconds. */
export const MAX_TOKENS = 1_000;

/** The deepest useful query has four levels; introspection, which GraphQL's own rules bound, has more. */
const MAX_DEPTH = 8;
const MAX_INTROSPECTION_DEPTH = 20;
const MAX_ALIASES = 15;
const MAX_DIRECTIVES = 20;
/** Fields in the response. A full page of users with all their related data has 13,000. */
const MAX_COST = 15_000;

const MAX_PAGE_LENGTH = 100;
/** Assumed length of a list that declares none, such as introspection's. */
const USUAL_LIST = 5;

type Size = { depth: number; aliases: number; directives: number; cost: number };

const NOTHING: Size = { depth: 0, aliases: 0, directives: 0, cost: 0 };

type GraphqlRequest = {
  document: DocumentNode;
  operation: OperationDefinitionNode;
  variables: Record<string, unknown>;
};

/** Describes which bound the requested operation exceeds, if any. @param request a valid one */
export function exceeded(schema: GraphQLSchema, request: GraphqlRequest): GraphQLError | null {
  const size = measure(schema, request);
  const over =
    (size.depth > MAX_DEPTH && `deeper than ${MAX_DEPTH}`) ||
    (size.aliases > MAX_ALIASES && `more than ${MAX_ALIASES} aliases`) ||
    (size.directives > MAX_DIRECTIVES && `more than ${MAX_DIRECTIVES} directives`) ||
    (size.cost > MAX_COST && `an answer of more than ${MAX_COST} fields`);
  if (!over) return null;
  return new GraphQLError(`The operation is too large: ${over}. Ask for less at once.`, {
    extensions: { code: "OPERATION_TOO_LARGE", reason: "invalid_input", http: { spec: true, status: 400 } },
  });
}

/** Counts each field as often as it is reached, also through fragments; each fragment is visited once. */
function measure(schema: GraphQLSchema, { document, operation, variables }: GraphqlRequest): Size {
  const fragments = new Map(
    document.definitions.flatMap((definition) =>
      definition.kind === Kind.FRAGMENT_DEFINITION ? [[definition.name.value, definition]] : [],
    ),
  );
  const measured = new Map<string, Size>();

  const ofFragment = (name: string): Size => {
    const cached = measured.get(name);
    if (cached) return cached;
    const fragment = fragments.get(name);
    const size = fragment
      ? ofSelections(fragment.selectionSet, compositeType(fragment.typeCondition.name.value))
      : NOTHING;
    measured.set(name, size);
    return size;
  };

  const compositeType = (name: string) => schema.getType(name) as GraphQLCompositeType;

  const ofSelections = ({ selections }: SelectionSetNode, parent: GraphQLCompositeType): Size => {
    const total = { ...NOTHING };
    for (const selection of selections) {
      const directives = selection.directives?.length ?? 0;
      const size =
        selection.kind === Kind.FIELD
          ? ofField(selection, parent)
          : selection.kind === Kind.FRAGMENT_SPREAD
            ? ofFragment(selection.name.value)
            : ofSelections(
                selection.selectionSet,
                selection.typeCondition ? compositeType(selection.typeCondition.name.value) : parent,
              );
      total.depth = Math.max(total.depth, size.depth);
      total.aliases += size.aliases;
      total.directives += size.directives + directives;
      total.cost += size.cost;
    }
    return total;
  };

  const ofField = (node: FieldNode, parent: GraphQLCompositeType): Size => {
    const field = fieldOf(schema, parent, node.name.value);
    const type = field && getNamedType(field.type);
    const inner =
      field && node.selectionSet && isCompositeType(type) ? ofSelections(node.selectionSet, type) : NOTHING;
    return {
      depth: 1 + (isIntrospection(field) ? withinIntrospection(inner.depth) : inner.depth),
      aliases: inner.aliases + (node.alias ? 1 : 0),
      directives: inner.directives,
      cost: 1 + inner.cost * (field ? entries(field, node, variables) : 1),
    };
  };

  const size = ofSelections(
    operation.selectionSet,
    schema.getRootType(operation.operation) as GraphQLCompositeType,
  );
  return { ...size, directives: size.directives + (operation.directives?.length ?? 0) };
}

type Field = GraphQLField<unknown, unknown>;

/** `undefined` for `__typename`, which has no subfields. */
function fieldOf(schema: GraphQLSchema, parent: GraphQLCompositeType, name: string): Field | undefined {
  if (parent === schema.getQueryType()) {
    if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef;
    if (name === TypeMetaFieldDef.name) return TypeMetaFieldDef;
  }
  return isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[name] : undefined;
}

function isIntrospection(field: Field | undefined): boolean {
  return field === SchemaMetaFieldDef || field === TypeMetaFieldDef;
}

function withinIntrospection(depth: number): number {
  return depth <= MAX_INTROSPECTION_DEPTH ? 0 : depth;
}

/** The maximum number of times the field's children occur in the response. */
function entries(field: Field, node: FieldNode, variables: Record<string, unknown>): number {
  const limit = field.args.find(({ name }) => name === "limit");
  if (limit) return pageLength(limit.defaultValue, node, variables);
  if (typeof field.extensions.size === "number") return field.extensions.size;
  const bySchema = isListType(getNullableType(field.type)) && isIntrospectionType(getNamedType(field.type));
  return bySchema ? USUAL_LIST : 1;
}

/** An invalid length is refused by the operation later; until then the maximum is assumed. */
function pageLength(usual: unknown, node: FieldNode, variables: Record<string, unknown>): number {
  const value = node.arguments?.find(({ name }) => name.value === "limit")?.value;
  const limit =
    value === undefined
      ? usual
      : value.kind === Kind.VARIABLE
        ? variables[value.name.value]
        : value.kind === Kind.INT && Number(value.value);
  return typeof limit === "number" && limit >= 1 && limit <= MAX_PAGE_LENGTH ? limit : MAX_PAGE_LENGTH;
}
