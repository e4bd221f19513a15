import{Avatar as me,counted as ce,html as I,Problem as pe,Sheet as j,titleOf as D,useEffect as $e,useState as L}from"../app.js";function G({state:e,actions:s,onClose:t}){let[o,r]=L(null),[a,i]=L(""),[u,$]=L("");$e(()=>{s.publicGroups().then(r,l=>i(l.message))},[]);let p=l=>s.join(l).then(t,d=>i(d.message)),b=(o??[]).filter(l=>`${l.name} ${l.id}`.toLowerCase().includes(u.toLowerCase()));return I`
    <${j} title="Public groups" onClose=${t}>
      <${pe} text=${a} />
      <label class="field"><span class="unseen">Search public groups</span><input type="search" placeholder="Search groups" autofocus value=${u}
        onInput=${l=>$(l.target.value)} /></label>
      ${o===null&&!a&&I`<p class="quiet">Loading…</p>`}
      ${o!==null&&b.length===0&&I`<p class="quiet">${o.length===0?"No public groups yet. Create one and let anyone join.":`No groups match \u201C${u}\u201D.`}</p>`}
      <ul class="people">
        ${b.map(l=>I`
          <li key=${l.id} data-public=${l.id}>
            <span class="who"><${me} name=${D(l,e.people)} square /><span class="person">${D(l,e.people)}<small>${ce(l.members,"member")}</small></span></span>
            ${e.groups.has(l.id)?I`<a class="button" href="#${encodeURIComponent(l.id)}" aria-label="Open ${D(l,e.people)}" onClick=${t}>Open</a>`:I`<button type="button" class="button primary" aria-label="Join ${D(l,e.people)}" onClick=${()=>p(l.id)}>Join</button>`}
          </li>`)}
      </ul>
    </${j}>`}import{Avatar as be,fullTime as de,html as v,Icon as fe,Name as he,Problem as W,Sheet as U,shortTime as ge,textOf as ve,titleOf as ye,useState as R,withLabels as ke}from"../app.js";function Y({state:e,actions:s,onClose:t}){let[o,r]=R(""),[a,i]=R(""),u=[...e.inbox.items].reverse(),$=()=>{r(""),s.clearInbox().catch(p=>r(p.message))};return v`
    <${U} title="Inbox" side onClose=${t}>
      <${W} text=${o} />
      ${!e.inbox.complete&&v`<p class="quiet">Some older items are no longer available.</p>`}
      ${u.length===0&&v`<p class="quiet">You’re all caught up. Direct messages and mentions appear here.</p>`}
      <ul class="items">
        ${u.map(p=>v`<li key=${p.seq} class="item" data-seq=${p.seq} data-kind=${p.kind}><${we} item=${p} groups=${e.groups} people=${e.people} me=${e.me} onReply=${i} onOpen=${t} /></li>`)}
      </ul>
      ${u.length>0&&v`<p class="buttons"><button type="button" class="button" onClick=${$}>Mark all as read</button></p>`}
      <${Se} key=${a} to=${a} send=${s.direct} />
    </${U}>`}function we({item:e,groups:s,people:t,me:o,onReply:r,onOpen:a}){let i=s.get(e.group??""),u=i?ye(i,t):e.group;return v`
    <${be} user=${e.from} name=${e.group??"?"} />
    <div class="item-text">
      <p class="item-head"><strong>${xe(e,u,ve(t,e.from??""))}</strong><time datetime=${e.sent_at} title=${de(e.sent_at)}>${ge(e.sent_at)}</time></p>
      ${e.body!==void 0&&v`<p class="item-body">${ke(e.body,t,[o])}</p>`}
      ${e.kind==="direct"&&e.from&&v`<button type="button" class="text-button" onClick=${()=>r(e.from??"")}><${fe} name="reply" />Reply</button>`}
      ${i&&v`<a class="text-button" href="#${encodeURIComponent(i.id)}" onClick=${a}>Open ${u}</a>`}
    </div>`}function xe(e,s,t){switch(e.kind){case"direct":return v`<${he} user=${e.from} />`;case"mention":return`${t} mentioned you in ${s}`;case"added":return`${t} added you to ${s}`;case"removed":return`${t} removed you from ${s}`;case"announcement":return`Announcement${t&&` from ${t}`}`;case"schedule_failed":return"A scheduled message could not be sent";default:return e.kind.replaceAll("_"," ")}}function Se({to:e,send:s}){let[t,o]=R(e),[r,a]=R(""),[i,u]=R(""),[$,p]=R("");async function b(l){l.preventDefault(),u(""),p("");try{await s(t.trim(),r.trim()),a(""),p(`Sent to ${t.trim()}.`)}catch(d){u(d.message)}}return v`
    <form class="sheet-foot stack" onSubmit=${b}>
      <h3>Send a direct message</h3>
      <label class="field"><span>To</span><input name="to" required maxlength="128" autocomplete="off" autocapitalize="none" spellcheck=${!1} placeholder="bob"
        value=${t} onInput=${l=>o(l.target.value)} /></label>
      <label class="field"><span>Message</span><textarea name="direct" rows="2" required autofocus=${e!==""} value=${r}
        onInput=${l=>a(l.target.value)}></textarea></label>
      <${W} text=${i} />
      <p class="quiet" role="status">${$}</p>
      <button class="button primary">Send</button>
    </form>`}import{Avatar as Ce,html as f,IconButton as E,inviteLink as Ie,labelOf as z,Name as Re,Problem as Pe,roleOf as qe,Sheet as F,textOf as Ae,titleOf as J,useEffect as Ne,useState as y}from"../app.js";var K={owner:0,admin:1,member:2};function H({state:e,actions:s,group:t,onClose:o}){let[r,a]=y(""),[i,u]=y(!1),$=e.groups.get(t);if(!$)return null;let p=qe(e,t),b=p==="owner"||p==="admin",l=[...e.members.get(t)?.values()??[]],d=n=>Ae(e.people,n);l.sort((n,h)=>K[n.role]-K[h.role]||z(e.people,n.user).localeCompare(z(e.people,h.user))||(n.user<h.user?-1:1));let m=n=>(a(""),n.then(()=>!0,h=>(a(h.message),!1)));return f`
    <${F} title="Members of ${J($,e.people)}" side onClose=${o}>
      <${Pe} text=${r} />
      ${!$.direct&&f`<${De} group=${$} manages=${b} actions=${s} />`}
      ${b&&f`<${Oe} owner=${p==="owner"} onAdd=${(n,h)=>m(s.addMember(t,n,h))} />`}
      <ul class="people">
        ${l.map(n=>f`
          <li key=${n.user} data-user=${n.user}>
            <span class="who"><${Ce} user=${n.user} /><span class="person"><${Re} user=${n.user} />${n.user===e.me&&f` <small>(you)</small>`}</span></span>
            ${!$.direct&&n.user!==e.me&&f`<${E} icon="send" label="Message ${d(n.user)}" onClick=${async()=>{await m(s.openDirect(n.user))&&o()}} />`}
            ${b&&n.role!=="owner"&&n.user!==e.me?f`<span class="controls"><select aria-label="Role of ${d(n.user)}" value=${n.role} onChange=${h=>m(s.addMember(t,n.user,h.target.value))}>
                  <option value="member">Member</option><option value="admin">Admin</option></select>
                  <${E} icon="close" label="Remove ${d(n.user)}" onClick=${()=>m(s.removeMember(t,n.user))} /></span>`:f`<span class="role">${n.role[0].toUpperCase()}${n.role.slice(1)}</span>`}
          </li>`)}
      </ul>
      ${l.length<$.members&&f`<p class="quiet">and ${($.members-l.length).toLocaleString()} more</p>`}
      ${b&&f`<${Te} name=${$.name} onSave=${n=>m(s.changeGroup(t,{name:n}))} />
        <${Me} group=${$} onSave=${n=>m(s.changeGroup(t,n))} />`}
      ${!$.direct&&f`<div class="sheet-foot">
        ${i?f`<p>Leave ${J($,e.people)}?${$.members<=1?" You\u2019re the last member, so the group will be deleted.":""}</p>
              <p class="buttons"><button type="button" class="button danger" onClick=${()=>m(s.leave(t))}>Leave group</button>
              <button type="button" class="button" onClick=${()=>u(!1)}>Cancel</button></p>`:f`<button type="button" class="button" onClick=${()=>u(!0)}>Leave group</button>`}
      </div>`}
    </${F}>`}var Q=100;function De({group:e,manages:s,actions:t}){let[o,r]=y(""),[a,i]=y(""),[u,$]=y(null);Ne(()=>{a&&import("./qr.js").then($,()=>{})},[a]);let p=()=>t.invite(e.id,Q).then(d=>{i(d),r(`Whoever has this link can join: up to ${Q} people.`)},d=>r(d.message));async function b(d){d.preventDefault();let m=d.target.elements.invite;m.focus(),m.select();let n=document.execCommand("copy")||await navigator.clipboard?.writeText(m.value).then(()=>!0,()=>!1);r(n?"Link copied.":"Press Ctrl+C to copy the link.")}let l=e.visibility==="public"?"They sign in, and join under \u201CPublic groups\u201D.":s?"They sign in, and you add them by name below.":"They sign in, and the owner or an admin adds them.";return f`
    <form class="row-form" name="invite" onSubmit=${b}>
      <label class="field"><span>Invite link</span>
        <input name="invite" readonly value=${a||Ie(e.id)} onFocus=${d=>d.target.select()} />
        <small role="status">${o||l}</small></label>
      <button class="button">Copy</button>
      ${s&&!a&&f`<button type="button" class="button" name="invite-people" onClick=${p}>Invite people</button>`}
    </form>
    ${a&&u&&f`<${u.QR} text=${a} label="QR code of the invite link" />`}`}function Oe({onAdd:e}){let[s,t]=y(""),[o,r]=y("member");async function a(i){i.preventDefault(),await e(s.trim(),o)&&t("")}return f`
    <form class="row-form" onSubmit=${a}>
      <label class="field"><span>Add member</span>
        <input name="user" required maxlength="128" autocomplete="off" autocapitalize="none" spellcheck=${!1} placeholder="bob" value=${s}
          onInput=${i=>t(i.target.value)} /></label>
      <select aria-label="Role" value=${o} onChange=${i=>r(i.target.value)}>
        <option value="member">Member</option><option value="admin">Admin</option></select>
      <button class="button primary">Add</button>
    </form>`}function Te({name:e,onSave:s}){let[t,o]=y(e);return f`
    <form class="row-form" onSubmit=${a=>{a.preventDefault(),s(t.trim())}}>
      <label class="field"><span>Group name</span>
        <input name="group-name" maxlength="200" autocomplete="off" value=${t} onInput=${a=>o(a.target.value)} /></label>
      <button class="button" disabled=${t.trim()===e}>Rename</button>
    </form>`}function Me({group:e,onSave:s}){let[t,o]=y(String(e.keep??"")),[r,a]=y(String(e.retain_days??"")),i=e.retain_days!==void 0,u={};return t!==""&&Number(t)!==e.keep&&(u.keep=Number(t)),i&&r!==""&&Number(r)!==e.retain_days&&(u.retain_days=Number(r)),f`
    <form class="stack" name="retention" onSubmit=${p=>{p.preventDefault(),s(u)}}>
      <label class="field"><span>Recent messages to keep</span>
        <input type="number" name="keep" required min="0" max="100000" value=${t} onInput=${p=>o(p.target.value)} />
        <small>They stay even when everyone has read them. With an archive, older ones stay available too.</small></label>
      ${i&&f`
        <label class="field"><span>Days until messages are removed</span>
          <input type="number" name="retain_days" required min="0" max="36500" value=${r} onInput=${p=>a(p.target.value)} />
          <small>0 keeps them forever. The server may have a shorter limit.</small></label>`}
      <button class="button" disabled=${Object.keys(u).length===0}>Save</button>
    </form>`}import{html as _e,newKey as Le,Problem as Be,Sheet as V,useRef as je,useState as X}from"../app.js";function Z({actions:e,onClose:s}){let[t,o]=X(""),[r,a]=X(!1),i=je({content:"",key:""});async function u($){$.preventDefault();let p=new FormData($.target),b=n=>String(p.get(n)??"").trim(),l=b("members").split(/[\s,]+/).filter(Boolean),d={name:b("name"),id:b("id")||void 0,visibility:b("visibility"),members:l.length>0?l:void 0},m=JSON.stringify(d);i.current.content!==m&&(i.current={content:m,key:Le()}),a(!0),o("");try{await e.createGroup(d,i.current.key),s()}catch(n){o(n.code==="exists"?"This ID is already in use. Choose another one.":n.message),a(!1)}}return _e`
    <${V} title="New group" onClose=${s}>
      <form class="stack" onSubmit=${u}>
        <label class="field"><span>Name</span><input name="name" required autofocus maxlength="200" autocomplete="off" placeholder="Weekend trip" /></label>
        <label class="field"><span>Members</span><input name="members" autocomplete="off" autocapitalize="none" spellcheck=${!1} placeholder="bob, carol" />
          <small>Separate names with commas. You can add more people later.</small></label>
        <fieldset class="choice">
          <legend>Who can join</legend>
          <label><input type="radio" name="visibility" value="private" checked /><span><strong>Private</strong><small>Only people you add</small></span></label>
          <label><input type="radio" name="visibility" value="public" /><span><strong>Public</strong><small>Anyone on this server</small></span></label>
        </fieldset>
        <details><summary>Set a custom ID</summary>
          <label class="field"><span class="unseen">Custom ID</span><input name="id" maxlength="128" autocomplete="off" autocapitalize="none" spellcheck=${!1} placeholder="weekend-trip" />
            <small>The group’s name in the API: letters, digits and . _ - @ + | : only. It can’t be changed later.</small></label></details>
        <${Be} text=${t} />
        <button class="button primary wide" disabled=${r}>Create group</button>
      </form>
    </${V}>`}import{Avatar as Ge,counted as Ue,html as N,Name as We,Problem as Ye,Sheet as ee,useEffect as Ee,useState as te}from"../app.js";function se({state:e,actions:s,group:t,id:o,onClose:r}){let[a,i]=te(null),[u,$]=te(""),p=e.members.get(t);Ee(()=>{let m=!1;return s.receipts(t,o).then(n=>{m||i(n)},n=>{m||$(n.message)}),()=>{m=!0}},[p]);let b=a?.seen_by??[],l=b.filter(m=>m.read>=o).map(m=>m.user),d=b.filter(m=>m.read<o).map(m=>m.user);return N`
    <${ee} title="Read receipts" side onClose=${r}>
      <${Ye} text=${u} />
      ${!a&&!u&&N`<p class="quiet">Loading…</p>`}
      ${a&&N`
        <p class="lead">Read by ${a.read} of ${Ue(a.members,"member")}.</p>
        <${B} title="Read" users=${l} name="read" />
        <${B} title="Delivered" users=${d} name="seen" />
        <${B} title="Not delivered yet" users=${a.pending??[]} name="pending" />`}
    </${ee}>`}var B=({title:e,users:s,name:t})=>s.length>0&&N`
  <section data-receipts=${t}>
    <h3>${e}</h3>
    <ul class="people">${s.map(o=>N`<li key=${o} data-user=${o}><span class="who"><${Ge} user=${o} /><span class="person"><${We} user=${o} /></span></span></li>`)}</ul>
  </section>`;import{Avatar as ze,fullTime as ne,html as C,Name as Fe,Problem as Je,Sheet as ae,shortTime as Ke,titleOf as Qe,useRef as He,useState as P}from"../app.js";function oe({state:e,actions:s,group:t="",onClose:o}){let[r,a]=P(""),[i,u]=P(t),[$,p]=P(!1),[b,l]=P(null),[d,m]=P(""),[n,h]=P(!1),w=He(0);async function x(c,M){let _=++w.current;h(!0),m("");try{let A=await s.search({q:r.trim(),group:i,sort:$?"best":"newest",cursor:M});_===w.current&&l({hits:[...c,...A.hits],next:A.next,before:A.incomplete_before})}catch(A){_===w.current&&m(A.message)}_===w.current&&h(!1)}function S(){w.current++,l(null),h(!1),m("")}function O(c){c.preventDefault(),S(),r.trim()&&x([],"")}let T=c=>Qe(e.groups.get(c)??{id:c,name:""},e.people),g=c=>{o(),s.goTo(c.message.group,c.message.id)};return C`
    <${ae} title="Search messages" side onClose=${o}>
      <form class="stack" role="search" onSubmit=${O}>
        <div class="row-form">
          <label class="field"><span class="unseen">Search messages</span>
            <input type="search" name="q" autofocus maxlength="250" autocomplete="off" enterkeyhint="search" placeholder="Words, “a phrase”, -without" value=${r}
              onInput=${c=>a(c.target.value)} /></label>
          <button class="button primary" disabled=${!r.trim()}>Search</button>
        </div>
        <div class="row-form">
          ${t&&C`
            <select aria-label="Where to search" value=${i} onChange=${c=>{u(c.target.value),S()}}>
              <option value=${t}>This group</option><option value="">All groups</option></select>`}
          <select aria-label="Order" value=${$?"best":"newest"} onChange=${c=>{p(c.target.value==="best"),S()}}>
            <option value="newest">Newest first</option><option value="best">Best match first</option></select>
        </div>
      </form>
      <${Je} text=${d} />
      <p class="quiet" role="status">${n?"Searching\u2026":b?.hits.length===0?"No messages found.":""}</p>
      ${b?.before&&C`<p class="quiet">Messages sent after ${ne(b.before)} may be missing.</p>`}
      <ul class="items hits" aria-label="Messages found">
        ${(b?.hits??[]).map(c=>C`
          <li key=${`${c.message.group} ${c.message.id}`}>
            <button type="button" class="item hit" data-hit="${c.message.group}/${c.message.id}" onClick=${()=>g(c)}>
              <${ze} user=${c.message.from} />
              <span class="item-text">
                <span class="item-head"><strong><${Fe} user=${c.message.from} /></strong>
                  <time datetime=${c.message.sent_at} title=${ne(c.message.sent_at)}>${Ke(c.message.sent_at)}</time></span>
                ${!i&&C`<small>${T(c.message.group)}</small>`}
                <span class="item-body">${Ve(c.snippet)}</span>
              </span>
            </button>
          </li>`)}
      </ul>
      ${b?.next&&C`<button type="button" class="button" disabled=${n} onClick=${()=>x(b.hits,b.next??"")}>Show more</button>`}
    </${ae}>`}function Ve({text:e,marks:s}){let t=[],o=0;for(let[r,a]of s)t.push(e.slice(o,r),C`<mark>${e.slice(r,a)}</mark>`),o=a;return[...t,e.slice(o)]}import{html as st,say as nt,Sheet as ie}from"../app.js";import{Avatar as Xe,html as le,Problem as Ze,say as k,useEffect as et,useRef as tt,useState as q}from"../app.js";function re({state:e,actions:s}){let[t,o]=q(null),[r,a]=q(""),[i,u]=q(""),[$,p]=q(""),[b,l]=q(""),[d,m]=q(!1),n=tt(null),h=async(g,c)=>{p(""),l(""),m(!0);try{w(await g),l(c)}catch(M){p(M.message)}m(!1)};function w(g){o(g),a(g.name??""),u(g.status?.text??"")}et(()=>{h(s.me(),"")},[]);let x={};t&&r.trim()!==(t.name??"")&&(x.name=r.trim()||null),t&&i.trim()!==(t.status?.text??"")&&(x.status=i.trim()?{...t.status,text:i.trim()}:null);let S=k("Saved.","\u5DF2\u4FDD\u5B58\u3002"),O=g=>{g.preventDefault(),h(s.changeMe(x),S)};function T(g){let[c]=g.target.files;g.target.value="",c&&h(s.putAvatar(c),S)}return le`
    <form class="stack profile" name="profile" onSubmit=${O}>
      <div class="profile-face">
        <${Xe} user=${e.me} />
        <div>
          <input ref=${n} type="file" name="picture" accept="image/png,image/jpeg,image/gif,image/webp" hidden onChange=${T} />
          <p class="buttons">
            <button type="button" class="button" disabled=${d} onClick=${()=>n.current?.click()}>${t?.picture?k("Replace","\u66F4\u6362\u5934\u50CF"):k("Upload picture","\u4E0A\u4F20\u5934\u50CF")}</button>
            ${t?.picture&&le`<button type="button" class="button" name="remove-picture" disabled=${d}
              onClick=${()=>h(s.removeAvatar(),S)}>${k("Remove","\u79FB\u9664")}</button>`}
          </p>
          <small class="quiet">${e.me}</small>
        </div>
      </div>
      <label class="field"><span>${k("Name","\u540D\u5B57")}</span>
        <input name="own-name" maxlength="64" autocomplete="name" dir="auto" placeholder=${e.me} value=${r} disabled=${!t}
          onInput=${g=>a(g.target.value)} /></label>
      <label class="field"><span>${k("Status","\u72B6\u6001")}</span>
        <input name="status" maxlength="100" autocomplete="off" dir="auto" placeholder=${k("In a meeting","\u5F00\u4F1A\u4E2D")} value=${i} disabled=${!t}
          onInput=${g=>u(g.target.value)} /></label>
      <${Ze} text=${$} />
      <p class="quiet" role="status">${b}</p>
      <button class="button primary" disabled=${d||Object.keys(x).length===0}>${k("Save","\u4FDD\u5B58")}</button>
    </form>`}var ue=({state:e,actions:s,onClose:t})=>st`
  <${ie} title=${nt("You","\u6211")} side onClose=${t}>
    <${re} state=${e} actions=${s} />
  </${ie}>`;var Pt={browse:G,inbox:Y,members:H,new:Z,receipts:se,search:oe,you:ue};export{Pt as sheets};
//# sourceMappingURL=sheets.js.map
