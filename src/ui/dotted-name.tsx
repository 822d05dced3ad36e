/** A name such as `customer.subscription.updated`, which wraps after a dot or an underscore where it can. */
export function DottedName({ name }: { name: string }) {
  const end = name.search(/(?<=[._])(?!$)/);
  if (end === -1) return name;
  return (
    <>
      {name.slice(0, end)}
      <wbr />
      <DottedName name={name.slice(end)} />
    </>
  );
}
