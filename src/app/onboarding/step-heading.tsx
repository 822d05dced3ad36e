export function StepHeading({ title, about }: { title: string; about: string }) {
  return (
    <div className="mb-5">
      <h1 className="font-semibold text-lg">{title}</h1>
      <p className="mt-1 text-muted">{about}</p>
    </div>
  );
}
