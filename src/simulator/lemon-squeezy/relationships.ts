export function relationships(type: string, id: string, names: readonly string[]): object {
  const home = `https://api.lemonsqueezy.example/v1/${type}/${id}`;
  return Object.fromEntries(
    names.map((name) => [
      name,
      { links: { related: `${home}/${name}`, self: `${home}/relationships/${name}` } },
    ]),
  );
}
